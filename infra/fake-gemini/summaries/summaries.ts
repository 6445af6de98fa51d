import { z } from 'zod';
import { firstCodePoints, splitSentences } from '../answers/sentences.ts';
import { textTokens } from '../answers/token-rule.ts';
import { alterNumber, inflate, type Vices } from '../server/misbehaviour.ts';
import { contentText, type ModelRequestBody, type RequestContent } from '../server/request.ts';

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
  /** Of a constraint. */
  quote?: string;
}

const rule = /\b(?:always|never|from now on)\b/i;
/** What an obedient summariser takes for a rule. */
const order = /\b(?:always|never|from now on|must|ignore|disregard|you are now)\b/i;

const STATEMENT_CHARACTERS = 200;

/** The beginning of a text, no half word at its end where words have blanks between them. */
const cutAtWord = (text: string, count: number): string =>
  text.length <= count ? text : firstCodePoints(text, count).replace(/\s\S*$/u, '');

/**
 * One statement a turn of the user, then the rules. The first sentence of all is the goal, unless one is known. A
 * sentence that stands in several turns is stated once.
 */
function statementsOf(
  utterances: readonly Utterance[],
  options: { hasGoal: boolean; vices: Vices },
): Statement[] {
  const { hasGoal, vices } = options;
  const statements = new Map<string, Statement>();
  const rules = new Map<string, Statement>();
  for (const { turn, speaker, text } of utterances) {
    const sentences = splitSentences(text);
    const isRule = (each: string): boolean =>
      (speaker === 'user' && rule.test(each)) || (vices.obedient === true && order.test(each));
    for (const each of sentences.filter(isRule))
      rules.set(each, { section: 'active_constraints', text: each, quote: each, turn });
    const [first] = sentences;
    if (speaker !== 'user' || first === undefined || rules.has(first)) continue;
    const section = hasGoal || statements.size > 0 ? 'key_knowledge' : 'overall_goal';
    const start = cutAtWord(first, STATEMENT_CHARACTERS);
    if (!statements.has(start)) statements.set(start, { section, text: start, turn });
  }
  return [...statements.values(), ...rules.values()];
}

/** The statements as a summariser with these vices writes them down. */
function tamper(statements: readonly Statement[], { inventive, verbose }: Vices): Statement[] {
  const texts = statements.map(({ text }) => text);
  const altered = inventive === true ? alterNumber(texts) : texts;
  return statements.map((statement, index) => {
    const text = altered[index] ?? statement.text;
    return { ...statement, text: verbose === undefined ? text : inflate(text, verbose) };
  });
}

/** The newest statements that have room together; rules and the goal before all others. */
function withinRoom(
  statements: readonly Statement[],
  room: number,
  sizeOf: (text: string) => number,
): Statement[] {
  const rank = ({ section }: Statement) => (section === 'key_knowledge' ? 1 : 0);
  let left = room;
  const chosen = statements
    .toSorted((a, b) => rank(a) - rank(b) || b.turn - a.turn)
    .filter(({ text }) => {
      const size = sizeOf(text);
      if (size > left) return false;
      left -= size;
      return true;
    });
  return statements.filter((each) => chosen.includes(each));
}

const knownItemSchema = z.looseObject({ id: z.string(), section: z.string(), text: z.string() });
type KnownItem = z.infer<typeof knownItemSchema>;

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

/** The history between the first two lines of the mark, the known items between the last two. */
function readLedger(content: RequestContent | undefined) {
  const [boundary = '', ...lines] = contentText(content).split('\n');
  const end = lines.indexOf(boundary);
  const known = lines
    .slice(end + 1, lines.lastIndexOf(boundary))
    .map((line) => knownItemSchema.parse(JSON.parse(line)));
  return { utterances: readUtterances(lines.slice(0, end)), known };
}

const TURNS_A_TOPIC = 10;
const TITLE_CHARACTERS = 30;

/** One topic for each run of ten turns, with the first words that the user says in it. */
function topicsOf(utterances: readonly Utterance[]): object[] {
  const turns = [...new Set(utterances.map(({ turn }) => turn))];
  const starts = turns.filter((_, index) => index % TURNS_A_TOPIC === 0);
  return starts.map((from, index) => {
    const run = turns.slice(index * TURNS_A_TOPIC, (index + 1) * TURNS_A_TOPIC);
    const first = utterances.find(({ turn, speaker }) => run.includes(turn) && speaker === 'user');
    const [sentence = 'Conversation'] = splitSentences(first?.text ?? '');
    return { title: cutAtWord(sentence, TITLE_CHARACTERS), from, through: run.at(-1) };
  });
}

/** New items in groups by section. */
function additions(statements: readonly Statement[]): object[] {
  return [...Map.groupBy(statements, ({ section }) => section)].map(([section, group]) => ({
    op: 'add',
    section,
    items: group.map(({ text, turn, quote }) => ({ text, sources: [turn], quote })),
  }));
}

/** Known statements, oldest first, that leave so that half of the room is for what is new. */
function removals(known: readonly KnownItem[], room: number): KnownItem[] {
  let size = known.reduce((sum, { text }) => sum + text.length, 0);
  return known.filter(({ section, text }) => {
    if (section !== 'key_knowledge' || size <= room / 2) return false;
    size -= text.length;
    return true;
  });
}

const ledgerRoom = /^ROOM\n[^]*?at most ([\d,]+) characters/m;
const snapshotRoom = /at most ([\d,]+) tokens/;

/** What the system instruction states, else no limit. */
function readRoom({ systemInstruction }: ModelRequestBody, pattern: RegExp): number {
  const stated = pattern.exec(contentText(systemInstruction))?.[1];
  return stated === undefined ? Number.POSITIVE_INFINITY : Number(stated.replaceAll(',', ''));
}

/** The operations on a ledger and the topics of the history, as JSON. */
function ledgerAnswer(body: ModelRequestBody, vices: Vices): string {
  const { utterances, known } = readLedger(body.contents?.[0]);
  const hasGoal = known.some(({ section }) => section === 'overall_goal');
  const statements = statementsOf(utterances, { hasGoal, vices }).filter(({ text }) =>
    known.every((item) => item.text !== text),
  );
  const room = readRoom(body, ledgerRoom);
  const removed = removals(known, room);
  const kept = known.filter((item) => !removed.includes(item));
  const left = kept.reduce((sum, { text }) => sum - text.length, room);
  const chosen = withinRoom(statements, left, (text) => text.length);
  return JSON.stringify({
    scratchpad: `The history has ${utterances.length} utterances.`,
    operations: [
      ...additions(tamper(chosen, vices)),
      ...removed.map(({ id }) => ({ op: 'remove', id, reason: 'room', sources: [] })),
    ],
    topics: topicsOf(utterances),
  });
}

const snapshotSections =
  'overall_goal active_constraints key_knowledge artifact_trail file_system_state recent_actions task_state'.split(
    ' ',
  );
const wholeSnapshot = /<state_snapshot>[^]*<\/state_snapshot>/;

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The statements that an earlier snapshot has in a section, as they stand there. */
const earlierLines = (snapshot: string, section: string): string[] =>
  (new RegExp(`<${section}>([^]*?)</${section}>`).exec(snapshot)?.[1] ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** A content of a history without marks: its text, and what tools returned. */
const readContent = (content: RequestContent, turn: number): Utterance[] => [
  { turn, speaker: content.role === 'model' ? 'model' : 'user', text: contentText(content) },
  ...(content.parts ?? []).flatMap(({ functionResponse }) =>
    functionResponse === undefined
      ? []
      : [{ turn, speaker: 'tool', text: JSON.stringify(functionResponse.response) }],
  ),
];

/**
 * A scratchpad and one `<state_snapshot>` with the sections of Gemini CLI; what an earlier snapshot at the beginning of
 * the history states is taken over. Asked about its own snapshot once more, it writes the same again.
 */
function snapshotAnswer(body: ModelRequestBody, vices: Vices): string {
  const contents = body.contents ?? [];
  const scratchpad = '<scratchpad>\nThe history was read.\n</scratchpad>\n\n';
  const answered = contents.at(-2)?.role === 'model' ? contentText(contents.at(-2)) : '';
  const [own] = wholeSnapshot.exec(answered) ?? [];
  if (own !== undefined) return scratchpad + own;
  const [earlier = ''] = wholeSnapshot.exec(contentText(contents[0])) ?? [];
  const utterances = contents.slice(earlier === '' ? 0 : 1, -1).flatMap(readContent);
  const hasGoal = earlierLines(earlier, 'overall_goal').length > 0;
  const statements = statementsOf(utterances, { hasGoal, vices });
  const room = readRoom(body, snapshotRoom) - textTokens(earlier);
  const chosen = tamper(withinRoom(statements, room, textTokens), vices);
  const sections = snapshotSections.map((name) => {
    const bullet = name === 'overall_goal' ? '' : '- ';
    const added = chosen
      .filter(({ section }) => section === name)
      .map(({ text }) => `${bullet}${escapeXml(text)}`);
    return [`<${name}>`, ...earlierLines(earlier, name), ...added, `</${name}>`].join('\n');
  });
  return `${scratchpad}<state_snapshot>\n${sections.join('\n')}\n</state_snapshot>`;
}

/**
 * The answer to a request for a summary: a `<state_snapshot>` where the system instruction asks for one, else the JSON
 * of the operations on a ledger. Throws for input in another form than the prompt of the product describes.
 */
export function summarise(body: ModelRequestBody, vices: Vices): string {
  const isSnapshot = contentText(body.systemInstruction).includes('<state_snapshot>');
  const answer = isSnapshot ? snapshotAnswer(body, vices) : ledgerAnswer(body, vices);
  return vices.malformed === true ? answer.slice(0, -2) : answer;
}
