import { recapCommand } from '#infra/command-line.ts';
import { isSource } from '#infra/local/script-path.ts';
import { terminalText } from '#infra/terminal-text.ts';
import { unsignedToken } from './processes/unsigned-token.ts';
import { LOCAL_USER } from './stack/stack-environment.ts';
import type { StackEvent, StackLog } from './stack/stack-event.ts';
import type { Stack } from './stack/start-stack.ts';
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { z } from 'zod';

export const startHelp = `Usage: ${recapCommand('dev', '[options]')}

Starts Recap on this machine: the chat and compaction functions, Firestore and Pub/Sub (the emulators
where they are installed, else in memory), and a fake Gemini unless GEMINI_API_KEY is set.
Ctrl-C ends all of it; a second Ctrl-C does not wait.

  --embedded   store and bus in memory, even where emulators are installed
  --port N     chat on port N (default 8080), compaction on N+1, fake Gemini on N+2,
               page on N+3; a port that is taken is replaced by the next free one
  --entry FILE the module that exports the functions (${isSource ? 'default: Recap without anything of an app' : 'default index.ts'});
               they start again when a source below its folder, or .env, changes
  --claims JSON  custom claims of the user of the page and of the printed token, e.g. '{"plan":"gold"}'
  --verbose    every log line of the functions, as it is
  --help       this text`;

export interface StartArguments {
  isEmbedded: boolean;
  port: number;
  isVerbose: boolean;
  /** Of the user's token. */
  claims: Readonly<Record<string, unknown>>;
  /** Path of an app's module; undefined: the repository's own. */
  entry: string | undefined;
}

/** Highest port that leaves room for the three after it. */
const highestPort = 65_532;

/** Reads the command line; `'help'` when that was asked for. Throws an Error that names the flag. */
export function parseStartArguments(argv: readonly string[]): StartArguments | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      embedded: { type: 'boolean', default: false },
      port: { type: 'string', default: '8080' },
      entry: { type: 'string', ...(!isSource && { default: 'index.ts' }) },
      claims: { type: 'string', default: '{}' },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const port = /^\d{1,5}$/.test(values.port) ? Number(values.port) : 0;
  if (port < 1 || port > highestPort)
    throw new Error(
      `--port takes a number from 1 to ${highestPort}, not ${JSON.stringify(values.port)}`,
    );
  if (values.entry !== undefined && !existsSync(values.entry))
    throw new Error(
      `--entry names no file: ${values.entry}. It is the module that exports chat and compaction`,
    );
  return {
    entry: values.entry,
    isEmbedded: values.embedded,
    port,
    isVerbose: values.verbose,
    claims: readClaims(values.claims),
  };
}

const claimsSchema = z.record(z.string(), z.unknown());

function readClaims(text: string): StartArguments['claims'] {
  try {
    return claimsSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`--claims takes a JSON object such as {"plan":"gold"}, not ${text}`, { cause });
  }
}

/** Calls to paste into a shell, and where things are. */
export function welcomeText(
  stack: Stack,
  drawn: {
    now: Date;
    conversationId: string;
    messageIds: readonly [string, string];
    claims?: StartArguments['claims'];
  },
): string {
  const { now, claims = {} } = drawn;
  const token = unsignedToken({ uid: LOCAL_USER, projectId: stack.projectId, now, claims });
  const url = `${stack.chatUrl}/v1/conversations/${drawn.conversationId}/messages`;
  const body = (id: string, text: string) =>
    JSON.stringify({ message: { id, parts: [{ type: 'text', text }] } });
  const call = (flags: string, id: string, text: string) =>
    [
      `curl ${flags} ${url} \\`,
      `  -H "Authorization: Bearer $RECAP_TOKEN" -H 'Content-Type: application/json' \\`,
      `  -d '${body(id, text)}'`,
    ].join('\n');
  return `
${stack.pageUrl ? `  Page        ${stack.pageUrl}/\n\n` : ''}  chat        ${stack.chatUrl}
  compaction  ${stack.compactionUrl}
  model       ${stack.fakeGeminiUrl ? `${stack.fakeGeminiUrl}  ` : ''}${stack.model()}
  data        ${stack.firestoreHost ? `${stack.firestoreHost}  ` : ''}${stack.backend}

A token for user ${LOCAL_USER}, then a message whose answer streams:

export RECAP_TOKEN='${token}'

${call("-sN -H 'Accept: text/event-stream'", drawn.messageIds[0], 'My dog is called Pixel.')}

The same as JSON:

${call("-s -H 'Accept: application/json'", drawn.messageIds[1], 'What is my dog called?')}

${isSource ? `A recorded conversation through this stack, with its compactions:\n\nnpm run replay -- FILE.jsonl --url ${stack.chatUrl}\n\n` : ''}Ctrl-C ends all of it.
`;
}

const entrySchema = z.looseObject({ severity: z.string(), event: z.string() });

/** Fields that say nothing on one machine, or that the line shows already. */
const hidden = new Set(
  'severity event message time requestId uidHash attempt logging.googleapis.com/trace'.split(' '),
);

const longestShown = 200;

/** Frames of an error, as the log has them in one line: those of the app's own files, where there are any. */
function ownFrames(stack: unknown): string {
  if (typeof stack !== 'string' || stack === '') return '';
  const frames = stack.split(' | ');
  const own = frames.filter((frame) => !/node_modules|\(?node:/.test(frame));
  return (own.length > 0 ? own : frames).map((frame) => `\n             ${frame}`).join('');
}

function parseEntry(line: string): z.infer<typeof entrySchema> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return entrySchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

const whole = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

const shown = (value: unknown): string =>
  typeof value === 'string' ? value.slice(0, 36) : JSON.stringify(value);

/**
 * A log line of a function, shortened for people: `turn.finished conversationId=… durationMs=12`. Of one that warns
 * nothing is cut. DEBUG lines and requests that went well give undefined; what is no log entry is shown as it is.
 */
function shortenLogLine(line: string): string | undefined {
  const entry = parseEntry(line);
  if (!entry) return line;
  // A request that went well says less than the turn that it made.
  const isRoutine = entry.event === 'request' && entry.severity === 'INFO';
  if (isRoutine || entry.severity === 'DEBUG') return undefined;
  const { severity, event, stack, ...others } = entry;
  const isWhole = severity !== 'INFO';
  const fields = Object.entries(others)
    .filter(([name, value]) => !hidden.has(name) && value !== undefined && value !== null)
    .map(([name, value]) => `${name}=${isWhole ? whole(value) : shown(value)}`);
  const text = `${event} ${fields.join(' ')}`.trimEnd();
  return isWhole ? `${severity} ${text}${ownFrames(stack)}` : text.slice(0, longestShown).trimEnd();
}

const milliseconds = (value: number): string => `${value.toLocaleString('en')} ms`;

/** Lines under an event; log lines of the functions as short as they are shown otherwise. */
const indented = (lines: readonly string[]): string =>
  lines
    .flatMap((line) => shortenLogLine(line) ?? [])
    .map((line) => `\n      ${line}`)
    .join('');

function eventText(event: StackEvent, isVerbose: boolean): string | undefined {
  switch (event.kind) {
    case 'ready':
      return `  ✓ ${event.title.padEnd(34)} ${milliseconds(event.tookMs).padStart(9)}`;
    case 'failed':
      return `  ✗ ${event.part}: ${event.problem}`;
    case 'port-taken':
      return `  port ${event.wantedPort} is taken: ${event.part} uses ${event.usedPort}`;
    case 'note':
      return isVerbose ? `  ${event.text}` : undefined;
    case 'line': {
      const text = isVerbose ? event.line : shortenLogLine(event.line);
      return text === undefined ? undefined : `  ${event.part.padEnd(11)} ${text}`;
    }
    case 'crashed':
      return `✗ ${event.part} crashed (${event.exit}) and starts again. Its last lines:${indented(event.lastLines)}`;
    case 'restarted': {
      const back = `✓ ${event.part} is back after ${milliseconds(event.tookMs)}.`;
      // In the embedded mode the store is in the process of the functions.
      if (event.part !== 'functions') return back;
      return `${back} What was stored went with the process: conversations begin anew.`;
    }
    case 'lost':
      return `✗ ${event.part} ended, and what they held is gone: press Ctrl-C and start again. Their last lines:${indented(event.lastLines)}`;
  }
}

/** Shows what the stack tells, a line an event. */
export function createStartConsole(options: {
  write: (text: string) => void;
  isVerbose: boolean;
}): {
  log: StackLog;
  /** The stack has started: from now on the log lines of its parts are shown. */
  settle: () => void;
} {
  const { write, isVerbose } = options;
  let hasStarted = isVerbose;
  /** What the last part said that failed: chat and compaction fail by the same error of an app. */
  let lastWords: string | undefined;
  const once = (event: StackEvent): StackEvent => {
    if (event.kind !== 'failed') return event;
    const [problem = '', ...lines] = event.problem.split('\n');
    const words = lines.join('\n');
    const isRepeated = words !== '' && words === lastWords;
    lastWords = isRepeated ? undefined : words;
    return isRepeated ? { ...event, problem: `${problem}, as above` } : event;
  };
  return {
    log: (event) => {
      // What a part says while it starts is of interest when it fails, and is in that message then.
      if (event.kind === 'line' && !hasStarted) return;
      const text = eventText(once(event), isVerbose);
      if (text !== undefined) write(`${terminalText(text)}\n`);
    },
    settle: () => {
      hasStarted = true;
    },
  };
}
