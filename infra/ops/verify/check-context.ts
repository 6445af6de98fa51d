import { isDeepStrictEqual } from 'node:util';
import { decodeXml, escapeXml } from '#shared/text/escape-xml.ts';
import { oneLine } from '#shared/text/one-line.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { isReplaced } from '#shared/conversation/writes/replaced-by.ts';
import { constraintSection } from '#shared/conversation/documents/snapshot.ts';
import { isTerminal } from '#shared/conversation/documents/turn.ts';
import { firstTailSeq } from '#shared/conversation/context/read-conversation.ts';
import { toFinishReason } from '#shared/wire/finish-reason.ts';
import { finding, findingWhen, type Finding } from './finding.ts';
import {
  conversationOfPath,
  type Loaded,
  type LoadedContext,
  type ShownItem,
  type StoredTurn,
} from './load/loaded.ts';

type Folded = Pick<Loaded, 'conversationId' | 'turns' | 'histories'> & {
  conversation: Pick<Conversation, 'coveredThrough' | 'generation' | 'lastSeq' | 'context'>;
};

const placeText = ({ seq, contentIndex }: Conversation['coveredThrough']) =>
  contentIndex > 0 ? `turn ${seq} up to content ${contentIndex}` : `turn ${seq}`;

/** I2: conversation and history agree on what is folded, and all of it has ended. */
export function checkCovered(input: Folded): Finding[] {
  const { conversation, turns, histories } = input;
  const { coveredThrough: covered, context } = conversation;
  const path = conversationOfPath(input);
  const history = histories.find(({ fields }) => fields.generation === conversation.generation);
  const wanted = history?.fields.coveredThrough ?? { seq: 0, contentIndex: 0 };
  const isKnown = history !== undefined || conversation.generation === 0;
  const unended = turns.find(
    ({ fields }) => fields.seq <= covered.seq && !isTerminal(fields.state),
  );
  return [
    ...findingWhen(
      isKnown && !isDeepStrictEqual(wanted, covered),
      'covered-differs',
      path,
      `the head folds up to ${placeText(covered)}, generation ${conversation.generation} up to ${placeText(wanted)}`,
    ),
    ...findingWhen(
      covered.seq > conversation.lastSeq,
      'covered-beyond',
      path,
      `it folds up to turn ${covered.seq}, lastSeq is ${conversation.lastSeq}`,
    ),
    ...(unended
      ? [finding('covered-beyond', unended.path, `it is ${unended.fields.state} and folded`)]
      : []),
    ...findingWhen(
      context.generation > conversation.generation || context.seq > conversation.lastSeq,
      'meter-ahead',
      path,
      `it measured turn ${context.seq} in generation ${context.generation}`,
    ),
  ];
}

const isFiltered = (reason: string | undefined) =>
  reason !== undefined && toFinishReason(reason) === 'content-filter';

/** I2: a turn is in the context if, and only if, it was answered and nothing took it out. */
export const checkInContext = ({ turns }: Pick<Loaded, 'turns'>): Finding[] =>
  turns.flatMap(({ path, fields }) => {
    const { state, inContext, eraseTime, finishReason, foldedInContext } = fields;
    const isGone = isReplaced(fields) || eraseTime !== undefined;
    const why = isTerminal(state) ? (eraseTime ? 'erased' : 'replaced') : state;
    return [
      ...findingWhen(
        inContext && (isGone || !isTerminal(state)),
        'in-context-wrongly',
        path,
        `it is ${why} and in the context`,
      ),
      ...findingWhen(
        state === 'done' &&
          !inContext &&
          !isGone &&
          !isFiltered(finishReason) &&
          foldedInContext === undefined,
        'left-out-of-context',
        path,
        'it is answered and not in the context',
      ),
    ];
  });

/** Contents that a tail turn brings into the context. */
function contentsWanted(
  seq: number,
  contents: number,
  { coveredThrough }: Pick<Conversation, 'coveredThrough'>,
) {
  const isCut = seq === coveredThrough.seq && coveredThrough.contentIndex > 0;
  return 1 + (isCut ? Math.max(0, contents - coveredThrough.contentIndex) : contents);
}

/** I2: each content behind the folded ones stands in the assembled context once. */
export function checkOnce(target: {
  conversationId: string;
  conversation: Pick<Conversation, 'coveredThrough'>;
  turns: readonly StoredTurn[];
  context: Pick<LoadedContext, 'items' | 'turns'>;
}): Finding[] {
  const { conversation, context } = target;
  const shown = Map.groupBy(
    context.items.filter(({ kind }) => kind === 'turn'),
    ({ seq }) => seq ?? 0,
  );
  const loaded = new Map(context.turns.map((turn) => [turn.seq, turn]));
  const first = firstTailSeq(conversation);
  return target.turns.flatMap(({ path, fields: { seq, inContext, state } }) => {
    const items = shown.get(seq) ?? [];
    const isWanted = inContext && seq >= first && isTerminal(state);
    const wanted = isWanted
      ? contentsWanted(seq, loaded.get(seq)?.contents.length ?? 0, conversation)
      : 0;
    const isMended = items.some(({ repairs }) => repairs !== undefined);
    return findingWhen(
      isMended ? items.length === 0 : items.length !== wanted,
      'not-once-in-context',
      path,
      `${items.length} of its contents stand in the context, ${wanted} should`,
    );
  });
}

/** I2: masks shorten parts that are there. */
export function checkMasks(target: {
  conversationId: string;
  context: Pick<LoadedContext, 'history' | 'turns'>;
}): Finding[] {
  const { history, turns } = target.context;
  const bySeq = new Map(turns.map((turn) => [turn.seq, turn]));
  const astray = (history?.masks ?? []).filter(({ seq, contentIndex, partIndex }) => {
    const turn = bySeq.get(seq);
    return turn && ![turn.user, ...turn.contents][contentIndex]?.parts[partIndex];
  });
  const [mask] = astray;
  if (!mask) return [];
  const { seq, contentIndex, partIndex } = mask;
  const what = `${astray.length} of generation ${history?.generation} name no part, the first is turn ${seq}, content ${contentIndex}, part ${partIndex}`;
  return [finding('mask-astray', conversationOfPath(target), what)];
}

/** Whether a snapshot's text has a statement, written as either strategy writes it. */
const says = (snapshotText: string, statement: string): boolean => {
  const line = oneLine(statement);
  const text = oneLine(snapshotText);
  return text.includes(escapeXml(line)) || text.includes(line) || decodeXml(text).includes(line);
};

/** I8: pins and active constraints stand in the context. No text of either is told. */
export function checkStanding(target: {
  conversationId: string;
  conversation: Pick<Conversation, 'pins'>;
  context: Pick<LoadedContext, 'history' | 'items'>;
}): Finding[] {
  const { conversation, context } = target;
  const path = conversationOfPath(target);
  const pinned = context.items
    .filter(({ kind }) => kind === 'pin')
    .map(({ content }) => contentText(content))
    .join('\n');
  const ids = conversation.pins.map(({ id }) => id);
  const { snapshot, snapshotText = '', generation } = context.history ?? {};
  const constraints = snapshot?.sections[constraintSection] ?? [];
  return [
    ...conversation.pins.flatMap(({ id, text }) =>
      findingWhen(!pinned.includes(text), 'pin-not-in-context', path, `pin ${id} is not in it`),
    ),
    ...[...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))].map((id) =>
      finding('pin-not-in-context', path, `pin ${id} stands in the head more than once`),
    ),
    ...constraints
      .filter(({ text }) => !says(snapshotText, text))
      .map(({ id }) =>
        finding(
          'constraint-not-in-context',
          path,
          `${id} of generation ${generation} is not in it`,
        ),
      ),
  ];
}

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const compared = (items: readonly ShownItem[]) =>
  asJson(items.map(({ kind, seq, content }) => ({ kind, seq, content })));

/** Instruction and tools are no part of what is assembled. */
const isAssembled = ({ kind }: ShownItem) => kind !== 'system' && kind !== 'tools';

/** I9: what `/context` shows is what the documents make. */
export function checkShown(target: {
  conversationId: string;
  conversation: Pick<Conversation, 'generation'>;
  context: Pick<LoadedContext, 'expected' | 'shown'>;
}): Finding[] {
  const { shown, expected } = target.context;
  if (!shown) return [];
  const path = conversationOfPath(target);
  if (shown.generation !== target.conversation.generation)
    return [
      finding(
        'context-differs',
        path,
        `it shows generation ${shown.generation}, the head is in ${target.conversation.generation}`,
      ),
    ];
  const items = shown.items.filter(isAssembled);
  if (isDeepStrictEqual(compared(items), compared(expected))) return [];
  const at = expected.findIndex((item, index) => {
    const other = items[index];
    return !other || !isDeepStrictEqual(compared([item]), compared([other]));
  });
  const what = `it shows ${items.length} items, the documents make ${expected.length}; the first that differs is number ${at === -1 ? expected.length + 1 : at + 1}`;
  return [finding('context-differs', path, what)];
}
