import { type Candidate, chooseWithin, collectCandidates, foldedContents } from './candidates.ts';
import { fillSchema } from './fill-schema.ts';
import { type ModelRequestBody, type RequestContent, textOf } from './request.ts';
import { escapeXml, firstCodePoints, splitSentences, unwrapSnapshot } from './sentences.ts';
import { renderSnapshotXml } from './snapshot-xml.ts';
import { isInjection, tamper, type Vices } from './vices.ts';

export interface Summary {
  text: string;
  dropped: string[];
  altered: { from: string; to: string }[];
}

const limitLine = /at most ([\d,]+) tokens/i;
const outputShare = 0.6;
const defaultMaxOutputTokens = 65_536;

/** The length that the request asks for: its own words first, else 60 % of maxOutputTokens. */
function limitTokens(body: ModelRequestBody): number {
  const words = `${textOf(body.systemInstruction)}\n${textOf(body.contents?.at(-1))}`;
  const stated = limitLine.exec(words)?.[1];
  if (stated !== undefined) return Number(stated.replaceAll(',', ''));
  return outputShare * (body.generationConfig?.maxOutputTokens ?? defaultMaxOutputTokens);
}

const wholeSnapshot = /<state_snapshot>[\s\S]*<\/state_snapshot>/;
const previousGoal = /<overall_goal>\s*([^<]*?)\s*<\/overall_goal>/;
const longestGoal = 200;

function findGoal(contents: readonly RequestContent[]): string {
  const stated = contents.map((content) => previousGoal.exec(textOf(content))?.[1]).find(Boolean);
  if (stated !== undefined) return unwrapSnapshot(stated);
  const first = contents.find((content) => content.role !== 'model');
  const sentence = splitSentences(textOf(first))[0] ?? 'none stated';
  return firstCodePoints(sentence, longestGoal);
}

/** Who summarises is asked a second time: the snapshot that the model gave stands before the request. */
function earlierAnswer(body: ModelRequestBody): string | undefined {
  const before = body.contents?.at(-2);
  if (before?.role !== 'model') return undefined;
  return wholeSnapshot.exec(textOf(before))?.[0];
}

const namedAsMissing = /<identifier>([\s\S]*?)<\/identifier>|^\s*[-*]\s+(.+)$/gm;

/** What a repair request says is missing, as tagged identifiers or list items. */
function missingTexts(body: ModelRequestBody, promptId: string): string[] {
  if (!promptId.endsWith('-repair')) return [];
  return [...textOf(body.contents?.at(-1)).matchAll(namedAsMissing)]
    .map((found) => unwrapSnapshot(found[1] ?? found[2] ?? '').trim())
    .filter((text) => text !== '');
}

interface Task {
  body: ModelRequestBody;
  promptId: string;
  seed: string;
  vices: Vices;
}

/** The statements of the history that hold what a repair request names. */
function findMissing({ body, promptId }: Task): Candidate[] {
  const missing = missingTexts(body, promptId);
  return collectCandidates(foldedContents(body), (sentence) =>
    missing.some((text) => sentence.includes(text)),
  ).filter((candidate) => candidate.saidBy !== 'snapshot');
}

function findCandidates(task: Task, isLedger: boolean): Candidate[] {
  if (isLedger && missingTexts(task.body, task.promptId).length > 0) return findMissing(task);
  return collectCandidates(foldedContents(task.body)).filter(
    (candidate) => !(isLedger && candidate.saidBy === 'snapshot'),
  );
}

/** The snapshot that is asked about once more, with what a repair request names put in its place. */
function revise(task: Task, earlier: string): Summary {
  const { seed, vices } = task;
  const { kept, dropped, altered } = tamper(`${seed}-repair`, vices, findMissing(task));
  const snapshot = kept.reduce((text, item) => {
    const opening = item.isRule ? '<active_constraints>\n' : '<key_knowledge>\n';
    return text.replace(opening, (tag) => `${tag}- ${escapeXml(item.text)}\n`);
  }, earlier);
  const text = tagScratchpad('The snapshot was compared with the history.', vices) + snapshot;
  return { text: vices.malformed === true ? damage(text) : text, dropped, altered };
}

/** Instructions in the history that an obedient model takes for its own. */
function findOrders(contents: readonly RequestContent[]): Candidate[] {
  return collectCandidates(contents, isInjection).map((order) => ({ ...order, isRule: true }));
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

/**
 * An extractive summary of the folded contents: every sentence with a checkable fact, verbatim and in
 * order, within the limit that the request states. With a response schema it is JSON that obeys it
 * (an `operations` array gets one `add` per sentence, previous snapshot items not again), otherwise
 * a scratchpad and one `<state_snapshot>`. Asked to criticise its own snapshot it gives it again; asked
 * to repair it (prompt id `…-repair`) it adds the statements that hold what is named.
 */
export function summarise(task: Task): Summary {
  const { body, seed, vices } = task;
  const config = body.generationConfig;
  const schema = config?.responseJsonSchema ?? config?.responseSchema;
  const earlier = schema === undefined ? earlierAnswer(body) : undefined;
  if (earlier !== undefined) return revise(task, earlier);
  const folded = foldedContents(body);
  const goal = findGoal(folded);
  const candidates = findCandidates(task, schema !== undefined);
  const render = (items: readonly Candidate[]): string => {
    const scratchpad = scratchpadText(candidates.length, items.length);
    return schema === undefined
      ? tagScratchpad(scratchpad, vices) + renderSnapshotXml(goal, items)
      : JSON.stringify(fillSchema(schema, { scratchpad, text: goal, items }));
  };
  const chosen = chooseWithin(candidates, limitTokens(body), render);
  const { kept, dropped, altered } = tamper(seed, vices, chosen);
  const orders = vices.obedient === true ? findOrders(folded) : [];
  const text = render([...orders, ...kept]);
  return { text: vices.malformed === true ? damage(text) : text, dropped, altered };
}
