import {
  ArgumentError,
  readChoice,
  readCommandLine,
  readFraction,
  readInteger,
} from '#infra/command-line.ts';

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

function readUrl(flag: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new ArgumentError(`${flag} takes an http or https URL, not ${JSON.stringify(text)}`);
  return text.replace(/\/+$/, '');
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
export function parseReplayArguments(argv: readonly string[], hasOwnModel = false) {
  const { values, positionals } = readCommandLine(argv, options);
  if (values.help) return 'help' as const;
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
    conversation: values.conversation,
    limit: readInteger('--limit', values.limit),
    settings: { thresholdTokens, thresholdFraction, windowTokens },
    answers,
    url,
    fakeGeminiUrl,
    token: values.token,
    isEmbedded: values.embedded,
    transport: readChoice('--transport', values.transport, ['sse', 'json']),
    seed: values.seed,
    jsonPath: values.json,
  };
}

export type ReplayArguments = Exclude<ReturnType<typeof parseReplayArguments>, 'help'>;
