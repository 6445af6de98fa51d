import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { terminalText } from '#infra/terminal-text.ts';
import { readGitState } from '../git-state.ts';
import { localProjectId } from '../local/stack/stack-environment.ts';
import { unsignedToken } from '../local/processes/unsigned-token.ts';
import { smokeReport } from './report.ts';
import { stepLine, type StepResult } from './run-steps.ts';
import { runSmoke } from './run-smoke.ts';
import { parseSmokeArguments, type SmokeArguments, smokeHelp } from './smoke-arguments.ts';
import type { SmokeOptions } from './smoke-context.ts';
import { signInAnonymously } from './sign-in.ts';

const POLL_MS = 1_000;
const root = fileURLToPath(new URL('../..', import.meta.url));

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

async function writeReport(
  file: string,
  results: readonly StepResult[],
  { wanted, startedAt }: { wanted: SmokeArguments; startedAt: Date },
): Promise<void> {
  const { url, given: options, token, apiKey, appCheck } = wanted;
  const manifest = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  const report = smokeReport(results, {
    url,
    startedAt,
    options,
    version: z.object({ version: z.string() }).parse(JSON.parse(manifest)).version,
    git: await readGitState(root, ['.']),
    platform: `${process.version}, ${process.platform} ${process.arch}`,
    secrets: [token, apiKey, appCheck].flatMap((secret) => secret || []),
  });
  await writeFile(file, report);
  process.stderr.write(`… ${file} holds the results for an issue\n`);
}

async function run(wanted: SmokeArguments): Promise<number> {
  const { url, isJson, report } = wanted;
  const startedAt = new Date();
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
      if (!isJson) process.stdout.write(`${terminalText(stepLine(result))}\n`);
    },
  );
  const failed = results.filter(({ outcome }) => outcome === 'failed');
  if (isJson)
    process.stdout.write(
      `${terminalText(JSON.stringify({ url, ok: failed.length === 0, steps: results }, null, 2))}\n`,
    );
  if (report !== undefined) await writeReport(report, results, { wanted, startedAt });
  else if (failed.length > 0) process.stderr.write(`… to report this, run it with --report FILE\n`);
  return failed.length === 0 ? 0 : 1;
}

async function main(): Promise<number> {
  let wanted: ReturnType<typeof parseSmokeArguments>;
  try {
    wanted = parseSmokeArguments(process.argv.slice(2), process.env);
    // A file that cannot be written is told now, not when all is done.
    if (wanted !== 'help' && wanted.report !== undefined) await writeFile(wanted.report, '');
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
