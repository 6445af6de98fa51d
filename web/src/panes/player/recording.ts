/** A conversation to be played: what its user said, in order. */
export interface PlayableRecording {
  id: string;
  messages: readonly string[];
}

/** More than any conversation that one watches; a file of gigabytes would stop the page. */
export const FILE_MAX_BYTES = 20_000_000;
const MESSAGES_MAX = 2_000;
/** As the service takes it in one part, with room. */
const MESSAGE_MAX_CHARACTERS = 100_000;

interface RecordedPart {
  text?: unknown;
  thought?: unknown;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const textOf = (parts: unknown): string =>
  (Array.isArray(parts) ? parts : [])
    .filter((part): part is RecordedPart => isRecord(part))
    .flatMap(({ text, thought }) => (typeof text === 'string' && thought !== true ? [text] : []))
    .join('\n')
    .trim()
    .slice(0, MESSAGE_MAX_CHARACTERS);

/** Neighbouring contents of the user are one message, as `npm run replay` sends them. */
function messagesOf(turns: readonly unknown[]): string[] {
  const messages: string[] = [];
  let wasUser = false;
  for (const turn of turns) {
    if (!isRecord(turn)) continue;
    const isUser = turn['role'] === 'user';
    const text = isUser ? textOf(turn['parts']) : '';
    if (text !== '' && wasUser) messages.push(`${messages.pop() ?? ''}\n${text}`);
    else if (text !== '') messages.push(text);
    // A tool's response is a content of the user that says nothing: it parts no messages.
    if (!isUser || text !== '') wasUser = isUser;
  }
  return messages.slice(0, MESSAGES_MAX);
}

type ParsedRecordings =
  | { kind: 'recordings'; recordings: readonly PlayableRecording[] }
  /** Number of the line that is no recorded conversation; 0: there is none. */
  | { kind: 'unreadable'; line: number };

/** Reads JSON lines of the form that `npm run replay` takes. */
export function parseRecordings(jsonl: string): ParsedRecordings {
  const recordings: PlayableRecording[] = [];
  for (const [index, line] of jsonl.split('\n').entries()) {
    if (line.trim() === '') continue;
    const parsed = parseLine(line);
    if (!parsed) return { kind: 'unreadable', line: index + 1 };
    if (parsed.messages.length > 0) recordings.push(parsed);
  }
  return recordings.length > 0
    ? { kind: 'recordings', recordings }
    : { kind: 'unreadable', line: 0 };
}

function parseLine(line: string): PlayableRecording | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || typeof value['id'] !== 'string' || !Array.isArray(value['turns']))
    return undefined;
  return { id: value['id'], messages: messagesOf(value['turns']) };
}
