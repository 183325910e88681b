/** Starts the API with its sockets over a service in memory. */
import { userInfo } from "node:os";
import { join } from "node:path";
import { runtimeDirOf } from "../runtime-dir.ts";
import { FakeService } from "./fake-service-for-tests.ts";
import { type Api, type ApiOptions, startApi } from "./server.ts";

/** Listens on `run/tutti.sock` in the folder, for the user who runs the test. A bug in the API is thrown. */
export function startTestApi(folder: string, more: Partial<ApiOptions> = {}): Promise<Api> {
  const { uid, username } = userInfo();
  const jobsFolder = join(folder, "jobs");
  return startApi({
    service: new FakeService(jobsFolder),
    version: "1.2.3",
    jobsFolder,
    places: runtimeDirOf(join(folder, "run", "tutti.sock")),
    owner: { uid, user: username, isAdministrator: true },
    isShared: false,
    ports: [],
    onBug: (error) => {
      throw error;
    },
    ...more,
  });
}
