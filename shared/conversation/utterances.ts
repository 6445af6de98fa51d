import { answerTime, userTime } from '#shared/conversation/local-time.ts';
import { DEPTH_MAX, type Content, type Part } from '#shared/models/content.ts';
import { cutHead, cutTail } from '#shared/text/cut.ts';
import type { Turn } from './documents/turn.ts';

/** `call`: what the model asked of a tool; it was said, but not to the user. */
export type Speaker = 'user' | 'model' | 'call' | 'tool';

/** What one speaker says in a turn, as text. */
export interface Utterance {
  seq: number;
  speaker: Speaker;
  text: string;
  /** When the turn began. */
  at: Date;
}

/** What is read of one call or response; half of it is its beginning, half its end. */
const OUTPUT_CHARACTERS = 20_000;
/** Room for the words that say how much is left out. */
const MARKER_CHARACTERS = 60;

function bounded(text: string): string {
  if (text.length <= OUTPUT_CHARACTERS) return text;
  const half = (OUTPUT_CHARACTERS - MARKER_CHARACTERS) / 2;
  const [head, tail] = [cutHead(text, half), cutTail(text, half)];
  return `${head}\n[${text.length - head.length - tail.length} characters left out]\n${tail}`;
}

/** Fields whose text is the whole result: their name says nothing. */
const plainFields: ReadonlySet<string> = new Set(['output', 'content', 'result']);

const isScalar = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

function collectLines(
  value: unknown,
  place: { key: string; depth: number },
  lines: string[],
): void {
  const { key, depth } = place;
  if (isScalar(value)) lines.push(key === '' ? String(value) : `${key}: ${value}`);
  else if (typeof value === 'object' && value !== null && depth < DEPTH_MAX)
    for (const [name, member] of Object.entries(value)) {
      const isNamed = !Array.isArray(value) && !plainFields.has(name);
      // The members of a list are what the list is called.
      collectLines(member, { key: isNamed ? name : key, depth: depth + 1 }, lines);
    }
}

function responseText(response: unknown): string {
  const lines: string[] = [];
  collectLines(response, { key: '', depth: 0 }, lines);
  return bounded(lines.join('\n'));
}

type SpokenText = Pick<Utterance, 'speaker' | 'text'>;

function saidIn(
  { text, thought, upload, functionCall, functionResponse }: Part,
  by: Speaker,
): SpokenText[] {
  const texts: SpokenText[] = [];
  // A file is what somebody wrote, as a page that a tool has read is: nothing in it is the user's word.
  if (text !== undefined && upload !== undefined)
    texts.push({ speaker: 'tool', text: bounded(text) });
  else if (text !== undefined && thought !== true) texts.push({ speaker: by, text });
  if (functionCall !== undefined) {
    const { name, args = {} } = functionCall;
    texts.push({ speaker: 'call', text: bounded(`${name}: ${JSON.stringify(args)}`) });
  }
  if (functionResponse !== undefined)
    texts.push({ speaker: 'tool', text: responseText(functionResponse.response) });
  return texts;
}

/** Texts of one speaker that follow each other are one; user parts stand on lines of their own. */
function joined(texts: readonly SpokenText[]): SpokenText[] {
  const merged: SpokenText[] = [];
  for (const { speaker, text } of texts) {
    const last = merged.at(-1);
    if (last?.speaker !== speaker || speaker === 'call' || speaker === 'tool')
      merged.push({ speaker, text });
    else last.text += speaker === 'user' ? `\n${text}` : text;
  }
  return merged.filter(({ text }) => text.trim() !== '');
}

const saidInContent = (content: Content, by: Speaker): SpokenText[] =>
  joined(content.parts.flatMap((part) => saidIn(part, by)));

/**
 * What is said in turns, in order: the user's text, the model's without its thoughts, each call as
 * `name: {arguments}`, the values of each response one a line with the names of their fields. Calls and
 * responses are bounded to 20,000 characters each; what is left out is said. Only the user content of a turn speaks for
 * the user. The last content of an answer was said when the turn ended, the others when it began.
 */
export function readUtterances(turns: readonly Turn[]): Utterance[] {
  const utterances: Utterance[] = [];
  for (const turn of turns) {
    const { seq, user, contents } = turn;
    const begun = userTime(turn);
    for (const { speaker, text } of saidInContent(user, 'user'))
      utterances.push({ speaker, text, seq, at: begun });
    for (const [index, content] of contents.entries()) {
      const at = index === contents.length - 1 ? answerTime(turn) : begun;
      const by = content.role === 'model' ? 'model' : 'tool';
      for (const { speaker, text } of saidInContent(content, by))
        utterances.push({ speaker, text, seq, at });
    }
  }
  return utterances;
}
