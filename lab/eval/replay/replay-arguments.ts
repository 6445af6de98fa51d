import { parseArgs, type ParseArgsConfig } from 'node:util';

export const replayHelp = `Usage: npm run replay -- FILE.jsonl [options]

Sends recorded conversations through the chat endpoint, message by message as a phone would, waits for
the compactions they cause, and checks that every message sent and every answer received stands in the
transcript, once, unaltered and in order. Only texts are replayed.

A line of FILE is a conversation, its "turns" are contents as the Gemini API has them:
  {"id":"a","turns":[{"role":"user","parts":[{"text":"Hi"}]},{"role":"model","parts":[{"text":"Hello"}]}]}

  --conversation ID       only the recording with this id
  --limit N               at most N user messages of each conversation
  --threshold-tokens N    compact when the context reaches N tokens
  --threshold-fraction F  compact when the context reaches this share of the window (0 < F ≤ 1)
  --window N              pretend that the model's context window is N tokens
  --answers WHO           recorded: the stand-in model says what the recording says;
                          model: the model answers by itself (default: recorded where an own
                          stack has the stand-in, else model)
  --url URL               use a running service instead of starting a local stack
  --stand-in-url URL      stand-in of that service, for --answers recorded
  --token TOKEN           ID token for --url (default: an unsigned one, good for the local stack)
  --embedded              local stack without emulators, even where they are installed
  --transport HOW         sse (default) or json
  --seed TEXT             other message and conversation ids (default: replay)
  --json OUT              write the figures to this file
  --help                  this text

Exit code: 0 all there; 1 something is missing, altered, out of order or failed; 2 wrong arguments.`;

export interface ReplayArguments {
  file: string;
  conversation?: string;
  limit: number;
  settings: { thresholdTokens?: number; thresholdFraction?: number; windowTokens?: number };
  answers: 'recorded' | 'model';
  url?: string;
  fakeGeminiUrl?: string;
  token?: string;
  isEmbedded: boolean;
  transport: 'sse' | 'json';
  seed: string;
  jsonPath?: string;
}

/** A mistake on the command line; the message names the flag. */
export class ArgumentError extends Error {}

type Options = NonNullable<ParseArgsConfig['options']>;

function parsed<Result>(parse: () => Result): Result {
  try {
    return parse();
  } catch (cause) {
    throw new ArgumentError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** `parseArgs` with file arguments, whose mistakes are ArgumentErrors. */
const readCommandLine = <Known extends Options>(argv: readonly string[], options: Known) =>
  parsed(() => parseArgs({ args: [...argv], options, allowPositionals: true }));

/** The options of a command that takes no file arguments. Throws ArgumentError, for one that is given, too. */
export const readOptions = <Known extends Options>(argv: readonly string[], options: Known) =>
  parsed(() => parseArgs({ args: [...argv], options, allowPositionals: false }).values);

/** Undefined for an option that was not given. Throws ArgumentError. */
export function readInteger(flag: string, text: string): number;
export function readInteger(flag: string, text: string | undefined): number | undefined;
export function readInteger(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,9}$/.test(text))
    throw new ArgumentError(`${flag} takes a whole number from 1, not ${JSON.stringify(text)}`);
  return Number(text);
}

const fractions = {
  '(0, 1)': { words: 'between 0 and 1', holds: (value: number) => value > 0 && value < 1 },
  '(0, 1]': { words: 'above 0 and at most 1', holds: (value: number) => value > 0 && value <= 1 },
  '[0, 1]': { words: 'from 0 to 1', holds: (value: number) => value >= 0 && value <= 1 },
};

/** A number within the bounds. Throws ArgumentError. */
export function readFraction(flag: string, text: string, bounds: keyof typeof fractions): number {
  const value = Number(text);
  const { words, holds } = fractions[bounds];
  if (text.trim() === '' || !holds(value))
    throw new ArgumentError(`${flag} takes a number ${words}, not ${JSON.stringify(text)}`);
  return value;
}

function readUrl(flag: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new ArgumentError(`${flag} takes an http or https URL, not ${JSON.stringify(text)}`);
  return text.replace(/\/+$/, '');
}

export function readChoice<Choice extends string>(
  flag: string,
  text: string,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find((each) => each === text);
  if (choice === undefined)
    throw new ArgumentError(`${flag} takes ${choices.join(' or ')}, not ${JSON.stringify(text)}`);
  return choice;
}

/** The one file named on the command line. */
function readFileArgument(positionals: readonly string[]): string {
  const [file, extra] = positionals;
  if (file === undefined)
    throw new ArgumentError('FILE.jsonl is missing: which recording is to be used?');
  if (extra !== undefined)
    throw new ArgumentError(`one FILE.jsonl at a time; ${JSON.stringify(extra)} is one too many`);
  return file;
}

const options = {
  conversation: { type: 'string' },
  limit: { type: 'string' },
  'threshold-tokens': { type: 'string' },
  'threshold-fraction': { type: 'string' },
  window: { type: 'string' },
  answers: { type: 'string' },
  url: { type: 'string' },
  'stand-in-url': { type: 'string' },
  token: { type: 'string' },
  embedded: { type: 'boolean', default: false },
  transport: { type: 'string', default: 'sse' },
  seed: { type: 'string', default: 'replay' },
  json: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

/**
 * Reads the command line; `'help'` when that was asked for. `hasOwnModel`: the user's shell has a key, so
 * no fake Gemini will answer. Throws ArgumentError.
 */
export function parseReplayArguments(
  argv: readonly string[],
  hasOwnModel = false,
): ReplayArguments | 'help' {
  const { values, positionals } = readCommandLine(argv, options);
  if (values.help) return 'help';
  const url = readUrl('--url', values.url);
  const fakeGeminiUrl = readUrl('--stand-in-url', values['stand-in-url']);
  const usual = url === undefined && !hasOwnModel ? 'recorded' : 'model';
  const answers = readChoice('--answers', values.answers ?? usual, ['recorded', 'model']);
  const thresholdTokens = readInteger('--threshold-tokens', values['threshold-tokens']);
  const { 'threshold-fraction': fraction } = values;
  const thresholdFraction =
    fraction === undefined ? undefined : readFraction('--threshold-fraction', fraction, '(0, 1]');
  const windowTokens = readInteger('--window', values.window);
  if (thresholdTokens !== undefined && thresholdFraction !== undefined)
    throw new ArgumentError('--threshold-tokens and --threshold-fraction exclude each other');
  if (url !== undefined && values.embedded)
    throw new ArgumentError('--embedded starts an own stack and --url uses another: choose one');
  if (url !== undefined && answers === 'recorded' && fakeGeminiUrl === undefined)
    throw new ArgumentError(
      '--answers recorded with --url needs --stand-in-url: a real model says what it likes',
    );
  return {
    file: readFileArgument(positionals),
    limit: readInteger('--limit', values.limit) ?? Number.POSITIVE_INFINITY,
    settings: {
      ...(thresholdTokens !== undefined && { thresholdTokens }),
      ...(thresholdFraction !== undefined && { thresholdFraction }),
      ...(windowTokens !== undefined && { windowTokens }),
    },
    answers,
    isEmbedded: values.embedded,
    transport: readChoice('--transport', values.transport, ['sse', 'json']),
    seed: values.seed,
    ...(values.conversation !== undefined && { conversation: values.conversation }),
    ...(url !== undefined && { url }),
    ...(fakeGeminiUrl !== undefined && { fakeGeminiUrl }),
    ...(values.token !== undefined && { token: values.token }),
    ...(values.json !== undefined && { jsonPath: values.json }),
  };
}
