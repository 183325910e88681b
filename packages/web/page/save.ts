/** Offers a text as a file to save. */
export function saveFile(name: string, parts: readonly string[], type: string): void {
  const url = URL.createObjectURL(new Blob([...parts], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has opened the blob by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
