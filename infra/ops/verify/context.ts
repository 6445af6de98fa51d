import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { constraintSection } from '#shared/conversation/documents/snapshot.ts';
import { isTerminal, type Turn } from '#shared/conversation/documents/turn.ts';
import { isReplaced } from '#shared/conversation/writes/replacement.ts';
import { lastOfSegment } from '#shared/recall/segment.ts';
import { oneLine } from '#shared/text/cut.ts';
import { decodeXml, escapeXml } from '#shared/text/escape-xml.ts';
import { toFinishReason } from '#shared/models/finish-reason.ts';
import { remedies, type Breach, type Invariant, type StoredConversation } from './load.ts';
import { isDeepStrictEqual } from 'node:util';

const placeText = ({ seq, contentIndex }: Conversation['coveredThrough']) =>
  contentIndex > 0 ? `turn ${seq} up to content ${contentIndex}` : `turn ${seq}`;

const presentHistory = ({ conversation, histories }: StoredConversation) =>
  histories.find(({ history }) => history.generation === conversation.generation);

function differentCovered(stored: StoredConversation): Breach[] {
  const { coveredThrough: covered, generation } = stored.conversation;
  const history = presentHistory(stored)?.history;
  // A history that is missing is told by itself.
  if (!history && generation > 0) return [];
  const wanted = history?.coveredThrough ?? { seq: 0, contentIndex: 0 };
  if (isDeepStrictEqual(wanted, covered)) return [];
  return [
    {
      path: conversationPath(stored.conversationId),
      is: `the head folds up to ${placeText(covered)}, generation ${generation} up to ${placeText(wanted)}`,
    },
  ];
}

function coveredBeyond({ conversationId, conversation, turns }: StoredConversation): Breach[] {
  const { coveredThrough: covered, lastSeq } = conversation;
  const is = `it folds up to turn ${covered.seq}, lastSeq is ${lastSeq}`;
  return [
    ...(covered.seq > lastSeq ? [{ path: conversationPath(conversationId), is }] : []),
    ...turns
      .filter(({ turn: { seq, state } }) => seq <= covered.seq && !isTerminal(state))
      .map(({ path, turn: { state } }) => ({ path, is: `it is ${state} and folded` })),
  ];
}

const isGone = (turn: Turn) => isReplaced(turn) || turn.eraseTime !== undefined;

const isFiltered = ({ finishReason }: Turn) =>
  finishReason !== undefined && toFinishReason(finishReason) === 'content-filter';

/** Whether a snapshot's text has a statement, written as either strategy writes it. */
const says = (snapshotText: string, statement: string): boolean => {
  const line = oneLine(statement);
  const text = oneLine(snapshotText);
  return text.includes(escapeXml(line)) || text.includes(line) || decodeXml(text).includes(line);
};

/** What the model sees. */
export const contextInvariants = {
  'covered-differs': {
    group: 'I2',
    shouldBe: 'conversation and history name the same last folded turn',
    remedy: remedies.rebuild,
    breaches: differentCovered,
  },
  'covered-beyond': {
    group: 'I2',
    shouldBe: 'nothing is folded that is not a stored, ended turn',
    remedy: remedies.rebuild,
    breaches: coveredBeyond,
  },
  'in-context-wrongly': {
    group: 'I2',
    shouldBe: 'only ended turns that nothing replaced or erased are in the context',
    remedy: 'set inContext to false under the update time of the turn',
    breaches: ({ turns }) =>
      turns
        .filter(({ turn }) => turn.inContext && (isGone(turn) || !isTerminal(turn.state)))
        .map(({ path, turn: { state, eraseTime } }) => {
          const why = isTerminal(state) ? (eraseTime ? 'erased' : 'replaced') : state;
          return { path, is: `it is ${why} and in the context` };
        }),
  },
  'left-out-of-context': {
    group: 'I2',
    shouldBe: 'an answered turn is in the context unless it was replaced, erased or filtered',
    remedy: 'set inContext to true under the update time of the turn',
    breaches: ({ turns }) =>
      turns
        .filter(({ turn }) => turn.state === 'done' && !turn.inContext)
        .filter(({ turn }) => !isGone(turn) && !isFiltered(turn))
        .filter(({ turn }) => turn.foldedInContext === undefined)
        .map(({ path }) => ({ path, is: 'it is answered and not in the context' })),
  },
  'index-broken': {
    group: 'I2',
    shouldBe: 'recall finds each folded turn that the head says is indexed',
    remedy:
      'the next message has the worker make it anew; until then it is answered without recall',
    breaches: ({ conversation: { indexedThrough = 0 }, index }) =>
      index.flatMap(({ path, number, throughSeq }) => {
        const wanted = Math.min(lastOfSegment(number), indexedThrough);
        if (throughSeq !== undefined && throughSeq >= wanted) return [];
        const what =
          throughSeq === undefined
            ? 'it is missing or cannot be read'
            : `it has turns up to ${throughSeq}`;
        return [{ path, is: `${what}, the head says ${wanted}` }];
      }),
  },
  'constraint-not-in-context': {
    group: 'I8',
    shouldBe: 'every active constraint of the snapshot stands in its text',
    remedy: remedies.rebuild,
    breaches: (stored) => {
      const present = presentHistory(stored);
      if (!present) return [];
      const { snapshot, snapshotText } = present.history;
      return (snapshot?.sections[constraintSection] ?? [])
        .filter(({ text }) => !says(snapshotText, text))
        .map(({ id }) => ({ path: present.path, is: `${id} is not in it` }));
    },
  },
} as const satisfies Record<string, Invariant>;
