/** What is selected in the matrix: the pinned gang and the visible processors. It is part of the address. */
import { useCallback } from "preact/hooks";
import { address, setQuery } from "../page/navigation.ts";
import { type MatrixSelection, parseSelection, selectionQuery } from "./selection-query.ts";

/** The selection in the address, and a function that changes it. */
export function useSelection(): [MatrixSelection, (changes: Partial<MatrixSelection>) => void] {
  const change = useCallback((changes: Partial<MatrixSelection>) => {
    setQuery(selectionQuery({ ...parseSelection(address.peek().query), ...changes }));
  }, []);
  return [parseSelection(address.value.query), change];
}
