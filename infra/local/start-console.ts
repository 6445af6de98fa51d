import { z } from 'zod';
import { terminalText } from '../terminal-text.ts';
import type { StackEvent, StackLog } from './stack/stack-event.ts';

const entrySchema = z.looseObject({ severity: z.string(), event: z.string() });

/** Fields that say nothing on one machine, or that the line shows already. */
const hidden = new Set(
  'severity event message time requestId uidHash attempt logging.googleapis.com/trace'.split(' '),
);

const longestShown = 200;

function parseEntry(line: string): z.infer<typeof entrySchema> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return entrySchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

const shown = (value: unknown): string =>
  typeof value === 'string' ? value.slice(0, 36) : JSON.stringify(value);

/**
 * A log line of a function, shortened for people: `turn.finished conversationId=… durationMs=12`.
 * DEBUG lines and requests that went well give undefined; what is no log entry is shown as it is.
 */
export function shortenLogLine(line: string): string | undefined {
  const entry = parseEntry(line);
  if (!entry) return line;
  // A request that went well says less than the turn that it made.
  const isRoutine = entry.event === 'request' && entry.severity === 'INFO';
  if (isRoutine || entry.severity === 'DEBUG') return undefined;
  const fields = Object.entries(entry)
    .filter(([name, value]) => !hidden.has(name) && value !== undefined && value !== null)
    .map(([name, value]) => `${name}=${shown(value)}`);
  const severity = entry.severity === 'INFO' ? '' : `${entry.severity} `;
  return `${severity}${entry.event} ${fields.join(' ')}`.slice(0, longestShown).trimEnd();
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
      return text === undefined ? undefined : `  ${event.part.padEnd(10)} ${text}`;
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
  return {
    log: (event) => {
      // What a part says while it starts is of interest when it fails, and is in that message then.
      if (event.kind === 'line' && !hasStarted) return;
      const text = eventText(event, isVerbose);
      if (text !== undefined) write(`${terminalText(text)}\n`);
    },
    settle: () => {
      hasStarted = true;
    },
  };
}
