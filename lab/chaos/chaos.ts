import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { singleLineJson } from '#shared/json-text.ts';
import { terminalText } from '#infra/terminal-text.ts';
import { ArgumentError } from '../eval/replay/replay-arguments.ts';
import { type ChaosArguments, chaosHelp, parseChaosArguments } from './chaos-arguments.ts';
import { chaosFigures, describeReport, isClean } from './chaos-report.ts';
import { phoneActions } from './phones/phone-actions.ts';
import { type ChaosOptions, runChaos } from './run-chaos.ts';

/** Production's leases of 20 and 60 s then last 2 and 6 s. */
const TIME_SCALE = 10;
const REST_TIMEOUT_MS = 90_000;
/** What is broken does not come to rest; there is no need to wait for it. */
const BROKEN_REST_TIMEOUT_MS = 45_000;

/** The files of `--log`, one JSON object a line; writing begins at once, so that a crash leaves them. */
function openLog(
  directory: string,
): Pick<ChaosOptions, 'onAcknowledge' | 'onTranscript' | 'onLine'> {
  mkdirSync(directory, { recursive: true });
  const open = (name: string) => createWriteStream(join(directory, name));
  const acks = open('acks.jsonl');
  const transcripts = open('transcripts.jsonl');
  const functions = open('functions.log');
  return {
    onAcknowledge: (acknowledgement) => acks.write(`${singleLineJson(acknowledgement)}\n`),
    onTranscript: (transcript) => transcripts.write(`${singleLineJson(transcript)}\n`),
    onLine: (line) => functions.write(`${line}\n`),
  };
}

async function main(argv: readonly string[]): Promise<number> {
  const given: ChaosArguments | 'help' = parseChaosArguments(argv);
  if (given === 'help') {
    console.log(chaosHelp);
    return 0;
  }
  const { minutes, seed, phones, broken, actions, logDirectory, isJson } = given;
  for (const name of actions ?? [])
    if (!phoneActions.some((action) => action.name === name))
      throw new ArgumentError(`--actions: phones do not ${JSON.stringify(name)}`);
  const say = isJson ? console.error : console.log;
  say(
    `chaos: ${minutes} min, seed ${seed}, ${phones} phones${broken ? `, ${broken} is broken` : ''}`,
  );
  const report = await runChaos({
    minutes,
    seed,
    phones,
    ...(broken && { broken }),
    ...(actions && { actions }),
    timeScale: TIME_SCALE,
    restTimeoutMs: broken ? BROKEN_REST_TIMEOUT_MS : REST_TIMEOUT_MS,
    onProgress: say,
    ...(logDirectory !== undefined && openLog(logDirectory)),
  });
  say(terminalText(describeReport(report)));
  if (isJson) console.log(JSON.stringify(chaosFigures(report)));
  return isClean(report) ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof ArgumentError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
