import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { clientNames } from '#test/conformance/launchers/clients.ts';
import { singleLineJson } from '#shared/lib/json-text.ts';
import { terminalText } from '#infra/terminal-text.ts';
import {
  ArgumentError,
  readChoice,
  readInteger,
  readOptions,
  runCommand,
} from '#infra/command-line.ts';
import { chaosFigures, describeReport, isClean } from './report.ts';
import { type ChaosOptions, runChaos } from './run-chaos.ts';

const help = `Usage: npm run chaos -- --minutes M --seed S [options]

Runs two chat and two compaction processes on the emulators while phones talk, alone and in bursts beyond
their limits, processes are killed and started on machines whose clocks are wrong by a day, the model fails,
replies are lost and Firestore stops for 20 s. A second device of each user follows the list of conversations. Then
everything comes to rest, and what the devices were told is compared with what is stored.

  --minutes M  how long the faults go on (default 1; fractions are allowed)
  --seed S     another run: kills, faults and phones follow from it (default 1)
  --phones N   how many phones talk at the same time (default 20)
  --apps N     how many apps built on a client package do so, each a process that is killed, too (default 3)
  --client C   which package: ${clientNames.join(' or ')} (default typescript)
  --log DIR    keep acks.jsonl, transcripts.jsonl and functions.log in this folder
  --json       last line of the output: the figures as JSON; progress goes to stderr
  --help       this text

FIRESTORE_EMULATOR_HOST and PUBSUB_EMULATOR_HOST name running emulators; else own ones are started.

Exit code: 0 nothing lost, doubled, refused, different or unfinished; 1 something is; 2 wrong arguments.`;

const options = {
  minutes: { type: 'string', default: '1' },
  seed: { type: 'string', default: '1' },
  phones: { type: 'string', default: '20' },
  apps: { type: 'string', default: '3' },
  client: { type: 'string', default: 'typescript' },
  log: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

function readMinutes(text: string): number {
  const minutes = Number(text);
  if (text.trim() === '' || !(minutes > 0 && minutes <= 1_440))
    throw new ArgumentError(
      `--minutes takes a number above 0 and at most 1440, not ${JSON.stringify(text)}`,
    );
  return minutes;
}

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

process.exitCode = await runCommand(help, async (argv) => {
  const values = readOptions(argv, options);
  if (values.help) return 'help';
  if (values.seed === '') throw new ArgumentError('--seed takes a number or a word');
  if (values.log === '') throw new ArgumentError('--log takes a folder');
  const minutes = readMinutes(values.minutes);
  const phones = readInteger('--phones', values.phones);
  const say = values.json ? console.error : console.log;
  const apps = readInteger('--apps', values.apps);
  const client = readChoice('--client', values.client, clientNames);
  say(`chaos: ${minutes} min, seed ${values.seed}, ${phones} phones, ${apps} apps of ${client}`);
  const report = await runChaos({
    minutes,
    seed: values.seed,
    phones,
    apps,
    client,
    onProgress: say,
    ...(values.log !== undefined && openLog(values.log)),
  });
  say(terminalText(describeReport(report)));
  if (values.json) console.log(JSON.stringify(chaosFigures(report)));
  return isClean(report) ? 0 : 1;
});
