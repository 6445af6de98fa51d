import {
  chooseWithin,
  collectCandidates,
  foldedContents,
  isLedger,
} from '../answers/candidates.ts';
import { type Candidate, type KnownItem, knownItems } from './ledger-lines.ts';
import { weighFacts, weighWords } from '../answers/facts.ts';
import { draftDenseLedger } from '../dense/dense-ledger.ts';
import { fillSchema } from '../answers/fill-schema.ts';
import { type Missing, missingTexts } from './missing-texts.ts';
import { type ModelRequestBody, type RequestContent, contentText } from '../server/request.ts';
import { readRoom } from './room.ts';
import { firstCodePoints, splitSentences, unwrapSnapshot } from '../answers/sentences.ts';
import { renderSnapshotXml } from './snapshot-xml.ts';
import { supersede } from './supersede.ts';
import { isInjection, tamper, type Tampering, type Vices } from '../server/misbehaviour.ts';
import { isQuestion } from '../answers/question-terms.ts';
import { worthAdding } from './worth-adding.ts';

export interface Summary {
  text: string;
  dropped: string[];
  altered: { from: string; to: string }[];
}

const wholeSnapshot = /<state_snapshot>[\s\S]*<\/state_snapshot>/;
const previousGoal = /<overall_goal>\s*([^<]*?)\s*<\/overall_goal>/;
const longestGoal = 200;

function findGoal(contents: readonly RequestContent[]): string {
  const stated = contents
    .map((content) => previousGoal.exec(contentText(content))?.[1])
    .find(Boolean);
  if (stated !== undefined) return unwrapSnapshot(stated);
  const first = contents.find((content) => content.role !== 'model');
  const sentence = splitSentences(contentText(first))[0] ?? 'none stated';
  return firstCodePoints(sentence, longestGoal);
}

/** Who summarises is asked a second time: the snapshot that the model gave stands before the request. */
function earlierAnswer(body: ModelRequestBody): string | undefined {
  const before = body.contents?.at(-2);
  if (before?.role !== 'model') return undefined;
  return wholeSnapshot.exec(contentText(before))?.[0];
}

interface Task {
  body: ModelRequestBody;
  promptId: string;
  seed: string;
  vices: Vices;
}

/** A list of what is missing names facts, or whole statements. */
const names = ({ text }: Missing, sentence: string): boolean =>
  sentence.includes(text) || (sentence.length >= 20 && text.includes(sentence));

const isFrom = ({ turns }: Missing, sources: readonly number[]): boolean =>
  turns.length === 0 || turns.some((turn) => sources.includes(turn));

/** The statements of the history that hold what a repair request names. */
function findMissing({ body, promptId }: Task): Candidate[] {
  const missing = missingTexts(body, promptId);
  return collectCandidates(foldedContents(body), {
    isWanted: (sentence) => missing.some((each) => names(each, sentence)),
    mayBeMarked: isLedger(body),
  }).filter(
    ({ saidBy, text, sources }) =>
      saidBy !== 'snapshot' && missing.some((each) => names(each, text) && isFrom(each, sources)),
  );
}

const fewestGoalWords = 6;

/** With the first statement of the first turn as the goal, where none is known. */
function withGoal(candidates: readonly Candidate[], known: readonly KnownItem[]): Candidate[] {
  if (known.some(({ section }) => section === 'overall_goal')) return [...candidates];
  const goal = candidates.find(
    ({ saidBy, sources, text, isRule }) =>
      saidBy === 'user' &&
      sources[0] === 1 &&
      !isRule &&
      text.length < longestGoal &&
      text.split(/\s+|(?=\p{Script=Han})/u).length >= fewestGoalWords,
  );
  return candidates.map((each) => (each === goal ? { ...each, isGoal: true } : each));
}

function findCandidates(task: Task): Candidate[] {
  const { body, promptId } = task;
  if (!isLedger(body)) return collectCandidates(foldedContents(body));
  if (promptId.endsWith('-repair')) return findMissing(task);
  const said = collectCandidates(foldedContents(body), {
    isWanted: (sentence) =>
      !isQuestion(sentence) && weighFacts(sentence) + weighWords(sentence) > 0,
    mayBeMarked: true,
  });
  const known = knownItems(body.contents ?? []);
  const changing = supersede(
    said.filter(({ saidBy }) => saidBy !== 'snapshot'),
    known,
  );
  return withGoal(worthAdding(changing), known);
}

/** The same snapshot again, as a model answers that is asked to criticise its own and finds nothing. */
function repeatSnapshot({ vices }: Task, earlier: string): Summary {
  const text = tagScratchpad('The snapshot was compared with the history.', vices) + earlier;
  return { text: vices.malformed === true ? damage(text) : text, dropped: [], altered: [] };
}

/**
 * Instructions in the history that an obedient model takes for its user's, whoever says them; the quote
 * that shall prove it is made up.
 */
function findOrders(body: ModelRequestBody): Candidate[] {
  const mayBeMarked = isLedger(body);
  const orders = collectCandidates(foldedContents(body), { isWanted: isInjection, mayBeMarked });
  return orders.map((order) => ({
    ...order,
    quote: `As I told you: ${order.text}`,
    saidBy: 'user',
    isRule: true,
  }));
}

function scratchpadText(found: number, kept: number): string {
  return `The history holds ${found} statements with something to check; ${kept} are kept.`;
}

function tagScratchpad(text: string, vices: Vices): string {
  if (vices.noScratchpad === true) return '';
  return vices.untaggedScratchpad === true
    ? `${text}\n\n`
    : `<scratchpad>\n${text}\n</scratchpad>\n\n`;
}

/** Breaks what a parser needs: the closing tags of XML, the end of JSON. */
function damage(text: string): string {
  const broken = text.replace('</key_knowledge>', '').replace('</state_snapshot>', '');
  return broken === text ? text.slice(0, Math.max(0, text.length - 2)) : broken;
}

const listOf = (items: readonly { text: string }[]): string =>
  items.map(({ text }) => `- ${text}\n`).join('');

/**
 * The statements for a ledger: all that can be checked and fits the stated limit, then what else is said as
 * far as there is room beside that and what is known.
 */
function chooseForLedger(body: ModelRequestBody, candidates: readonly Candidate[]): Candidate[] {
  const room = readRoom(body);
  const isCheckable = ({ text, changes }: Candidate): boolean =>
    changes !== undefined || weighFacts(text) > 0;
  const checkable = chooseWithin(candidates.filter(isCheckable), room, listOf);
  const size =
    room.size -
    room.measure(listOf(knownItems(body.contents ?? []))) -
    room.measure(listOf(checkable));
  const further = chooseWithin(
    candidates.filter((candidate) => !isCheckable(candidate)),
    { ...room, size },
    listOf,
  );
  const chosen = new Set([...checkable, ...further]);
  return candidates.filter(
    (candidate) => chosen.has(candidate) || candidate.changes?.op === 'remove',
  );
}

/** What is said of the candidates, and what the vices took from it; `render` gives the whole answer. */
function say(
  { body, promptId, seed, vices }: Task,
  candidates: readonly Candidate[],
  render: (items: readonly Candidate[]) => string,
): Omit<Tampering<Candidate>, 'kept'> & { items: Candidate[] } {
  if (vices.dense === true && isLedger(body)) {
    const isRepair = promptId.endsWith('-repair');
    const draft = draftDenseLedger({ body, seed, isRepair }, candidates);
    const { kept, ...tampering } = tamper(seed, vices, draft.chosen);
    return { ...tampering, items: draft.compose(kept) };
  }
  const chosen = isLedger(body)
    ? chooseForLedger(body, candidates)
    : chooseWithin(candidates, readRoom(body), render);
  const { kept, ...tampering } = tamper(seed, vices, chosen);
  return { ...tampering, items: kept };
}

/**
 * An extractive summary of the folded contents (a `dense` one of a ledger rewords it): every sentence with a checkable fact, verbatim and in
 * order, within the limit that the request states. With a response schema it is JSON that obeys it
 * (an `operations` array gets the sentences, added by section or as changes of known items; known items are not
 * repeated), otherwise a scratchpad and one `<state_snapshot>`. Asked to criticise its own
 * snapshot it gives it again; asked to repair operations (prompt id `…-repair`) it adds the statements that hold what is
 * named.
 */
export function summarise(task: Task): Summary {
  const { body, vices } = task;
  const config = body.generationConfig;
  const schema = config?.responseJsonSchema ?? config?.responseSchema;
  const earlier = schema === undefined ? earlierAnswer(body) : undefined;
  if (earlier !== undefined) return repeatSnapshot(task, earlier);
  const goal = findGoal(foldedContents(body));
  const candidates = findCandidates(task);
  const render = (items: readonly Candidate[]): string => {
    const scratchpad = scratchpadText(candidates.length, items.length);
    return schema === undefined
      ? tagScratchpad(scratchpad, vices) + renderSnapshotXml(goal, items)
      : JSON.stringify(fillSchema(schema, { scratchpad, text: goal, items }));
  };
  const { items, dropped, altered } = say(task, candidates, render);
  const orders = vices.obedient === true ? findOrders(body) : [];
  const text = render([...orders, ...items]);
  return { text: vices.malformed === true ? damage(text) : text, dropped, altered };
}
