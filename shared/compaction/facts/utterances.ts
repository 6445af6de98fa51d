import type { Content, Part } from '../../conversation/content.ts';
import type { Turn } from '../../conversation/turn.ts';
import { headOf, tailOf } from '../../text-cut.ts';
import type { Speaker, Utterance } from './utterance.ts';

/** What is read of one call or response; half of it is its beginning, half its end. */
const OUTPUT_CHARACTERS = 20_000;
/** Deeper values are left unread; what the wire takes is far flatter. */
const DEPTH_MAX = 64;

function bounded(text: string): string {
  if (text.length <= OUTPUT_CHARACTERS) return text;
  const half = OUTPUT_CHARACTERS / 2;
  return `${headOf(text, half - 1)}\n\n${tailOf(text, half - 1)}`;
}

function collectLines(value: unknown, depth: number, lines: string[]): void {
  if (typeof value === 'string' || typeof value === 'number') lines.push(String(value));
  else if (typeof value === 'object' && value !== null && depth < DEPTH_MAX)
    for (const member of Object.values(value)) collectLines(member, depth + 1, lines);
}

function responseText(response: unknown): string {
  const lines: string[] = [];
  collectLines(response, 0, lines);
  return bounded(lines.join('\n'));
}

type Said = Pick<Utterance, 'speaker' | 'text'>;

function saidIn({ text, thought, functionCall, functionResponse }: Part, by: Speaker): Said[] {
  const said: Said[] = [];
  if (text !== undefined && thought !== true) said.push({ speaker: by, text });
  if (functionCall !== undefined) {
    const { name, args = {} } = functionCall;
    said.push({ speaker: 'call', text: bounded(`${name}: ${JSON.stringify(args)}`) });
  }
  if (functionResponse !== undefined)
    said.push({ speaker: 'tool', text: responseText(functionResponse.response) });
  return said;
}

/** Texts of one speaker that follow each other are one; user parts stand on lines of their own. */
function joined(said: readonly Said[]): Said[] {
  const merged: Said[] = [];
  for (const { speaker, text } of said) {
    const last = merged.at(-1);
    if (last?.speaker !== speaker || speaker === 'call' || speaker === 'tool')
      merged.push({ speaker, text });
    else last.text += speaker === 'user' ? `\n${text}` : text;
  }
  return merged.filter(({ text }) => text.trim() !== '');
}

const saidInContent = (content: Content, by: Speaker): Said[] =>
  joined(content.parts.flatMap((part) => saidIn(part, by)));

/**
 * What is said in turns, in order: the user's text, the model's without its thoughts, each call as
 * `name: {arguments}`, the strings and numbers of each response one a line. Calls and responses are
 * bounded to 20,000 characters each. Only the user content of a turn speaks for the user.
 */
export function utterancesOf(turns: readonly Turn[]): Utterance[] {
  return turns.flatMap((turn) =>
    [
      ...saidInContent(turn.user, 'user'),
      ...turn.contents.flatMap((content) =>
        saidInContent(content, content.role === 'model' ? 'model' : 'tool'),
      ),
    ].map((said) => ({ ...said, seq: turn.seq, at: turn.createTime })),
  );
}
