import { z } from 'zod';
import { firstCodePoints, splitSentences } from '#infra/fake-gemini/answers/chat.ts';
import { alterNumber, inflate, type Vices } from '#infra/fake-gemini/server/faults.ts';
import { contentText, type ModelRequestBody } from '../server/request.ts';

/*
 * What the summariser says. It understands nothing: of each turn it takes the first sentence of the user, of all turns
 * the sentences that set a rule, word for word.
 */

/** What somebody said in a turn. */
interface Utterance {
  turn: number;
  speaker: string;
  text: string;
}

/** A statement for the snapshot. */
interface Statement {
  section: 'overall_goal' | 'key_knowledge' | 'active_constraints';
  text: string;
  /** The turn that says it. */
  turn: number;
}

const rule = /\b(?:always|never|from now on)\b/i;
/** What an obedient summariser takes for a rule. */
const order = /\b(?:always|never|from now on|must|ignore|disregard|you are now)\b/i;

const STATEMENT_CHARACTERS = 200;
const TITLE_CHARACTERS = 30;

/** The beginning of a text, no half word at its end where words have blanks between them. */
const cutAtWord = (text: string, count: number): string =>
  text.length <= count ? text : firstCodePoints(text, count).replace(/\s\S*$/u, '');

/** One statement a turn of the user, the first of all the goal unless one is known, then the rules; equal ones once. */
function statementsOf(
  utterances: readonly Utterance[],
  hasGoal: boolean,
  vices: Vices,
): Statement[] {
  const statements = new Map<string, Statement>();
  const rules = new Map<string, Statement>();
  for (const { turn, speaker, text } of utterances) {
    const sentences = splitSentences(text);
    for (const each of sentences)
      if ((speaker === 'user' && rule.test(each)) || (vices.obedient === true && order.test(each)))
        rules.set(each, { section: 'active_constraints', text: each, turn });
    const [first] = sentences;
    if (speaker !== 'user' || first === undefined || rules.has(first)) continue;
    const section = hasGoal || statements.size > 0 ? 'key_knowledge' : 'overall_goal';
    const start = cutAtWord(first, STATEMENT_CHARACTERS);
    if (!statements.has(start)) statements.set(start, { section, text: start, turn });
  }
  return [...statements.values(), ...rules.values()];
}

/** Statements with what a summariser with these vices writes of them. */
function writeDown(statements: readonly Statement[], { inventive, verbose = 1 }: Vices) {
  const texts = statements.map(({ text }) => text);
  const written = inventive === true ? alterNumber(texts) : texts;
  return statements.map((statement, index) => ({
    ...statement,
    written: inflate(written[index] ?? '', verbose),
  }));
}

/** The newest statements that have room together; rules and the goal before all others. */
function withinRoom(statements: readonly Statement[], roomCharacters: number): Statement[] {
  const rank = ({ section }: Statement) => (section === 'key_knowledge' ? 1 : 0);
  let left = roomCharacters;
  const chosen = statements
    .toSorted((a, b) => rank(a) - rank(b) || b.turn - a.turn)
    .filter(({ text }) => {
      if (text.length > left) return false;
      left -= text.length;
      return true;
    });
  return statements.filter((each) => chosen.includes(each));
}

const knownItemSchema = z.looseObject({ id: z.string(), section: z.string(), text: z.string() });

/** A mark at the margin: `[12] user: …`, `model: …`, `user attachment 3: image/png`. */
const mark = /^(?:\[(\d+)\] )?(user|model|tool)( attachment \d+)?: (.*)$/;
const dayLine = /^turn \d+: \d{4}-\d{2}-\d{2}/;

function readUtterances(lines: readonly string[]): Utterance[] {
  const utterances: Utterance[] = [];
  for (const line of lines) {
    const [, number, speaker, attachment, text = ''] = mark.exec(line) ?? [];
    const last = utterances.at(-1);
    if (speaker !== undefined)
      utterances.push({
        turn: Number(number ?? last?.turn ?? 0),
        speaker: attachment === undefined ? speaker : 'file',
        text,
      });
    else if (last && !dayLine.test(line)) last.text += `\n${line}`;
  }
  return utterances;
}

const statedRoom = /^ROOM\n[^]*?at most ([\d,]+) characters/m;

/**
 * Operations on a ledger and one topic, as JSON. The history stands between the first two lines of the
 * boundary, the known items between the last two. Known statements leave, oldest first, so that half of the room is for
 * what is new.
 */
function ledgerAnswer(body: ModelRequestBody, vices: Vices): string {
  const [boundary = '', ...lines] = contentText(body.contents?.[0]).split('\n');
  const end = lines.indexOf(boundary);
  const utterances = readUtterances(lines.slice(0, end));
  const known = lines
    .slice(end + 1, lines.lastIndexOf(boundary))
    .map((line) => knownItemSchema.parse(JSON.parse(line)));
  const stated = statedRoom.exec(contentText(body.systemInstruction))?.[1];
  const room = Number(stated?.replaceAll(',', '') ?? Number.POSITIVE_INFINITY);
  let size = known.reduce((sum, { text }) => sum + text.length, 0);
  const removed = known.filter(({ section, text }) => {
    if (section !== 'key_knowledge' || size <= room / 2) return false;
    size -= text.length;
    return true;
  });
  const hasGoal = known.some(({ section }) => section === 'overall_goal');
  const statements = statementsOf(utterances, hasGoal, vices);
  const news = statements.filter(({ text }) => known.every((item) => item.text !== text));
  const added = writeDown(withinRoom(news, room - size), vices);
  return JSON.stringify({
    scratchpad: `The history has ${utterances.length} utterances.`,
    operations: [
      ...[...Map.groupBy(added, ({ section }) => section)].map(([section, group]) => ({
        op: 'add',
        section,
        items: group.map(({ written, text: quote, turn }) => ({
          text: written,
          sources: [turn],
          ...(section === 'active_constraints' && { quote }),
        })),
      })),
      ...removed.map(({ id }) => ({ op: 'remove', id, reason: 'room', sources: [] })),
    ],
    topics: [
      {
        title: cutAtWord(statements[0]?.text ?? 'Conversation', TITLE_CHARACTERS),
        from: utterances[0]?.turn,
        through: utterances.at(-1)?.turn,
      },
    ],
  });
}

const emptySnapshot = `<state_snapshot>
${[
  'overall_goal',
  'active_constraints',
  'key_knowledge',
  'artifact_trail',
  'file_system_state',
  'recent_actions',
  'task_state',
]
  .map((section) => `<${section}>\n</${section}>`)
  .join('\n')}
</state_snapshot>`;
const wholeSnapshot = /<state_snapshot>[^]*<\/state_snapshot>/;

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * A scratchpad and one `<state_snapshot>` with the sections of Gemini CLI: an earlier one of the history, else an empty
 * one, with what is new in it. Asked about its own snapshot once more, it writes the same again.
 */
function snapshotAnswer({ contents = [] }: ModelRequestBody, vices: Vices): string {
  const scratchpad = '<scratchpad>\nThe history was read.\n</scratchpad>\n\n';
  const answered = contents.at(-2)?.role === 'model' ? contentText(contents.at(-2)) : '';
  const [own] = wholeSnapshot.exec(answered) ?? [];
  if (own !== undefined) return scratchpad + own;
  const [earlier] = wholeSnapshot.exec(contentText(contents[0])) ?? [];
  const utterances = contents.slice(earlier === undefined ? 0 : 1, -1).map((content, turn) => ({
    turn,
    speaker: content.role ?? 'user',
    text: contentText(content),
  }));
  const statements = statementsOf(utterances, earlier !== undefined, vices);
  let snapshot = earlier ?? emptySnapshot;
  for (const { section, written } of writeDown(statements, vices)) {
    const line = `${section === 'overall_goal' ? '' : '- '}${escapeXml(written)}`;
    snapshot = snapshot.replace(`</${section}>`, () => `${line}\n</${section}>`);
  }
  return scratchpad + snapshot;
}

/**
 * The answer to a request for a summary: a `<state_snapshot>` where the system instruction asks for one, else the JSON
 * of the operations on a ledger. Throws for input in another form than the prompt of the product describes.
 */
export function summarise(body: ModelRequestBody, vices: Vices): string {
  const isSnapshot = contentText(body.systemInstruction).includes('<state_snapshot>');
  return isSnapshot ? snapshotAnswer(body, vices) : ledgerAnswer(body, vices);
}
