import { randomUUID } from 'node:crypto';
import { localProjectId } from '../local/stack/stack-environment.ts';
import { unsignedToken } from '../local/processes/unsigned-token.ts';
import { stepLine } from './run-steps.ts';
import { runSmoke } from './run-smoke.ts';
import { parseSmokeArguments, type SmokeArguments, smokeHelp } from './smoke-arguments.ts';
import type { SmokeOptions } from './smoke-context.ts';
import { signInAnonymously } from './sign-in.ts';

const POLL_MS = 1_000;

function signInOf({ token, apiKey, appCheck }: SmokeArguments): SmokeOptions['signIn'] {
  const headersOf = (idToken: string) => ({
    authorization: `Bearer ${idToken}`,
    ...(appCheck !== undefined && { 'x-firebase-appcheck': appCheck }),
  });
  return async () => {
    if (apiKey !== undefined)
      return { headers: headersOf(await signInAnonymously(apiKey)), who: 'a new anonymous user' };
    if (token !== undefined) return { headers: headersOf(token), who: 'the user of the token' };
    const user = { uid: `smoke-${randomUUID()}`, projectId: localProjectId, now: new Date() };
    return { headers: headersOf(unsignedToken(user)), who: 'a new user of the local stack' };
  };
}

async function run(wanted: SmokeArguments): Promise<number> {
  const { url, isJson } = wanted;
  const results = await runSmoke(
    url,
    {
      waitMs: wanted.waitSeconds * 1_000,
      pollMs: POLL_MS,
      signIn: signInOf(wanted),
      erasesUser: wanted.erasesUser,
      origin: wanted.origin,
      progress: (text) => process.stderr.write(`… ${text}\n`),
    },
    (result) => {
      if (!isJson) process.stdout.write(`${stepLine(result)}\n`);
    },
  );
  const failed = results.filter(({ outcome }) => outcome === 'failed');
  if (isJson)
    process.stdout.write(
      `${JSON.stringify({ url, ok: failed.length === 0, steps: results }, null, 2)}\n`,
    );
  return failed.length === 0 ? 0 : 1;
}

async function main(): Promise<number> {
  let wanted: ReturnType<typeof parseSmokeArguments>;
  try {
    wanted = parseSmokeArguments(process.argv.slice(2), process.env);
  } catch (error) {
    process.stderr.write(
      `${error instanceof Error ? error.message : String(error)}\n\n${smokeHelp}\n`,
    );
    return 2;
  }
  if (wanted !== 'help') return run(wanted);
  process.stdout.write(`${smokeHelp}\n`);
  return 0;
}

process.exitCode = await main();
