import {
  ArgumentError,
  readChoice,
  readCommandLine,
  readInteger,
} from '../eval/replay/replay-arguments.ts';

export const chaosHelp = `Usage: npm run chaos -- --minutes M --seed S [options]

Runs two chat and two compaction processes on the emulators while phones talk, alone and in bursts beyond
their limits, processes are killed and started on machines whose clocks are wrong by a day, the model fails,
replies are lost and Firestore stops for 20 s. Then everything comes to rest, and what the phones were told is
compared with what is stored.

  --minutes M       how long the faults go on (default 1; fractions are allowed)
  --seed S          another run: kills, faults and phones follow from it (default 1)
  --phones N        how many phones talk at the same time (default 20)
  --actions NAMES   what the phones do, of the names in the report, with commas between (default all)
  --log DIR         keep acks.jsonl, transcripts.jsonl and functions.log in this folder
  --break PROTECTION
                    switch one protection off and see that the check notices it:
                    sweep   no sweep, and no request publishes a need again
                    fence   a swap overwrites the generation that another worker has made
                    outbox  the need is not noted in the batch that ends the turn
  --json            last line of the output: the figures as JSON; progress goes to stderr
  --help            this text

FIRESTORE_EMULATOR_HOST and PUBSUB_EMULATOR_HOST name running emulators; else own ones are started.

Exit code: 0 nothing lost, doubled, refused, different or unfinished; 1 something is; 2 wrong arguments.`;

export const protections = ['sweep', 'fence', 'outbox'] as const;
/** What `--break` switches off. */
export type Protection = (typeof protections)[number];

export interface ChaosArguments {
  minutes: number;
  seed: string;
  phones: number;
  broken?: Protection;
  /** Names of the only actions of the phones. */
  actions?: readonly string[];
  logDirectory?: string;
  isJson: boolean;
}

const options = {
  minutes: { type: 'string', default: '1' },
  seed: { type: 'string', default: '1' },
  phones: { type: 'string', default: '20' },
  actions: { type: 'string' },
  log: { type: 'string' },
  break: { type: 'string' },
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

/** Reads the command line; `'help'` when that was asked for. Throws ArgumentError that names the flag. */
export function parseChaosArguments(argv: readonly string[]): ChaosArguments | 'help' {
  const { values, positionals } = readCommandLine(argv, options);
  if (values.help) return 'help';
  if (positionals.length > 0)
    throw new ArgumentError(`there is no argument ${JSON.stringify(positionals[0])}; see --help`);
  if (values.seed === '') throw new ArgumentError('--seed takes a number or a word');
  if (values.log === '') throw new ArgumentError('--log takes a folder');
  return {
    minutes: readMinutes(values.minutes),
    seed: values.seed,
    phones: readInteger('--phones', values.phones),
    isJson: values.json,
    ...(values.break !== undefined && {
      broken: readChoice('--break', values.break, protections),
    }),
    ...(values.actions !== undefined && { actions: values.actions.split(',') }),
    ...(values.log !== undefined && { logDirectory: values.log }),
  };
}
