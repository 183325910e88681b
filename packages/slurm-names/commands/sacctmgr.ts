/**
 * `sacctmgr`: answers questions about accounts. Tutti has one account, one cluster and one quality of
 * service.
 */
import { userInfo } from "node:os";
import { ACCOUNT, CLUSTER, nodeName, QOS } from "@tutti/cli/options/slurm-site.ts";
import type { StatusAnswer } from "@tutti/protocol/schema.ts";
import { type Command, writeOut } from "../command.ts";
import { BareError, SlurmError } from "../errors.ts";
import { patientClient } from "../patient-client.ts";
import { accountingText, fieldsNamed, fieldsOf } from "../text/accounting-table.ts";

type Row = Readonly<Record<string, string>>;

const FIELDS = fieldsOf<Row>(
  "Account:10 Admin:9 Cluster:10 ControlHost:15 DefaultAccount:10 Description:20 Name:10 Organization:20 Partition:10 QOS:20 Share:9 User:10",
  (row, name) => row[name] ?? "",
);

/** Fields that are shown without format=. */
const USUAL: Readonly<Record<string, string>> = {
  account: "Account,Description,Organization",
  association: "Cluster,Account,User,Partition,Share,QOS",
  cluster: "Cluster,ControlHost",
  qos: "Name",
  user: "User,DefaultAccount,Admin",
};

export const sacctmgr: Command = {
  options:
    "associations,s help,h immediate,i json noheader,n oneliner,o parsable,p parsable2,P quiet,Q readonly,r usage verbose,v version,V yaml",
  usage: "sacctmgr [-n] [-P | -p] show user|account|association|cluster|qos [NAME] [format=FIELDS]",
  async run({ words: [keyword = "", entity = "", ...rest], options }) {
    if (keyword !== "show" && keyword !== "list")
      throw new SlurmError(
        `Cannot ${keyword || "do nothing"}: Tutti keeps no accounts; administrators set queues and limits in the configuration`,
      );
    const kind = Object.keys(USUAL).find(
      (name) =>
        name === entity.toLowerCase().replace(/^(\w+[^s])s$/, "$1") ||
        (entity.length > 3 && name.startsWith(entity.toLowerCase())),
    );
    if (kind === undefined) throw new BareError(` Unknown condition: ${entity}`);
    const conditions = rest.filter((word) => !/^(?:format|where|withassoc)(?:=|$)/i.test(word));
    const format = rest.map((word) => /^format=(.+)$/i.exec(word)?.[1]).find((text) => text !== undefined);
    const fields = fieldsNamed(format ?? USUAL[kind], FIELDS);
    const rows = (await rowsOf(kind)).filter((row) => matches(row, kind, conditions));
    writeOut(accountingText(fields, rows, options));
  },
};

async function rowsOf(kind: string): Promise<readonly Row[]> {
  if (kind === "cluster") return [{ Cluster: CLUSTER, ControlHost: nodeName(), Name: CLUSTER }];
  if (kind === "qos") return [{ Name: QOS, QOS }];
  if (kind === "account")
    return [{ Account: ACCOUNT, Description: ACCOUNT, Organization: ACCOUNT, Name: ACCOUNT }];
  const { user, isAdministrator } = await (await patientClient()).ask<StatusAnswer>("/v1/status");
  return [
    {
      Account: ACCOUNT,
      Admin: isAdministrator ? "Administrator" : "None",
      Cluster: CLUSTER,
      DefaultAccount: ACCOUNT,
      Name: user,
      QOS,
      Share: "1",
      User: user,
    },
  ];
}

/** `root`, `user=root`, `name=root account=default`. */
function matches(row: Row, kind: string, conditions: readonly string[]): boolean {
  return conditions.every((condition) => {
    const [, name = kind, values] = /^(?:(\w+)=)?(.*)$/s.exec(condition) ?? [];
    const key = FIELDS.find((known) =>
      known.name.toLowerCase().startsWith(name.toLowerCase().replace(/s$/, "")),
    )?.name;
    const value = row[key ?? "Name"] ?? row.Name;
    return (
      value === undefined ||
      (values ?? "").split(",").includes(value) ||
      (values === "" && userInfo().username === value)
    );
  });
}
