import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { checkWritable, runCommand } from '#infra/command-line.ts';
import { terminalText } from '#infra/terminal-text.ts';
import { readGitState } from '../git-state.ts';
import { localProjectId } from '../local/stack/stack-environment.ts';
import { unsignedToken } from '../local/processes/unsigned-token.ts';
import { smokeReport } from './report.ts';
import { stepLine, type StepResult } from './run-steps.ts';
import { runSmoke, type SmokeOptions } from './run-smoke.ts';
import { parseSmokeArguments, type SmokeArguments, smokeHelp } from './smoke-arguments.ts';
import { signInAnonymously } from './smoke-client.ts';

/** Longer than a compaction may take, its second try included. */
const WAIT_MS = 300_000;
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

async function reportOf(
  results: readonly StepResult[],
  { url, token, apiKey, appCheck }: SmokeArguments,
  startedAt: Date,
): Promise<string> {
  const manifest = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  return smokeReport(results, {
    url,
    startedAt,
    version: z.object({ version: z.string() }).parse(JSON.parse(manifest)).version,
    git: await readGitState(root, ['.']),
    platform: `${process.version}, ${process.platform} ${process.arch}`,
    secrets: [token, apiKey, appCheck].flatMap((secret) => secret || []),
  });
}

async function run(wanted: SmokeArguments): Promise<number> {
  const startedAt = new Date();
  const note = (text: string) => process.stderr.write(`… ${text}\n`);
  const results = await runSmoke(
    wanted.url,
    {
      waitMs: WAIT_MS,
      pollMs: POLL_MS,
      signIn: signInOf(wanted),
      isOwnUser: wanted.token === undefined,
      progress: note,
    },
    (result) => process.stdout.write(`${terminalText(stepLine(result))}\n`),
  );
  const hasFailed = results.some(({ outcome }) => outcome === 'failed');
  if (wanted.report !== undefined) {
    await writeFile(wanted.report, await reportOf(results, wanted, startedAt));
    note(`${wanted.report} holds the results for an issue`);
  } else if (hasFailed) note('to report this, run it with --report FILE');
  return hasFailed ? 1 : 0;
}

process.exitCode = await runCommand(smokeHelp, async (argv) => {
  const wanted = parseSmokeArguments(argv, process.env);
  if (wanted === 'help') return 'help';
  // A file that cannot be written is told now, not when all is done.
  await checkWritable('--report', wanted.report);
  return run(wanted);
});
