/** Promises about the page: how long a link and a session are valid. */
import { ADA, makeTestApp } from "@tutti/live/api/server/app-for-tests.ts";
import { Links } from "@tutti/live/api/server/web/links.ts";
import { CHANGE_MS, HOUR, inMachineTime, MINUTE, S, type Scene } from "./scenes.ts";

/** Each code can be used once, so each second takes another. */
export const link: Scene = {
  happensAtMs: (change) =>
    inMachineTime(async (time) => {
      const links = new Links();
      const codes = Array.from({ length: 120 }, (_, uid) => links.make(uid));
      await time.advanceTo(CHANGE_MS, S);
      change(time);
      for (const code of codes) {
        if (links.use(code) === undefined) return time.nowMs();
        await time.advanceTo(time.nowMs() + S, S);
      }
      return Number.POSITIVE_INFINITY;
    }),
  expectedMs: { forward: MINUTE, back: MINUTE, suspend: MINUTE },
  lateMs: S,
};

/** Twelve hours by the wall clock. */
export const session: Scene = {
  happensAtMs: (change) =>
    inMachineTime(async (time) => {
      const app = makeTestApp();
      const begin = async () => {
        const { url } = (await app.ask("POST", "/v1/web/links", { as: ADA })).json;
        const body = { code: (url as string).split("#login=")[1] };
        return (await app.ask("POST", "/v1/web/sessions", { body, headers: { authorization: "" } })).json;
      };
      try {
        const headers = { authorization: `Bearer ${(await begin()).token}` };
        await time.advanceTo(CHANGE_MS, S);
        change(time);
        while (time.nowMs() < 24 * HOUR) {
          if ((await app.ask("GET", "/v1/status", { headers })).status === 401) return time.nowMs();
          await time.advanceTo(time.nowMs() + MINUTE, MINUTE);
        }
        return Number.POSITIVE_INFINITY;
      } finally {
        app.remove();
      }
    }),
  expectedMs: { forward: 10 * HOUR, back: 12.5 * HOUR, suspend: 10 * HOUR },
  lateMs: MINUTE,
};
