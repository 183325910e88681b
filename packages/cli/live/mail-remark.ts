/** Says that a scheduler cannot send the mail that a job asks for. The job runs all the same. */
import type { StatusAnswer, SubmitJob } from "@tutti/protocol/schema.ts";

interface Asks {
  ask<Answer>(path: string): Promise<Answer>;
}

export async function remarkMail(
  client: Asks,
  job: Pick<SubmitJob, "mail">,
  say: (remark: string) => void,
): Promise<void> {
  if (job.mail === undefined) return;
  const { sendsMail } = await client.ask<StatusAnswer>("/v1/status");
  if (!sendsMail) {
    say(
      "no mail will be sent: the machine of the scheduler has no program sendmail, or the administrator has turned hooks off",
    );
  }
}
