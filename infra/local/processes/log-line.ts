import { z } from 'zod';

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
