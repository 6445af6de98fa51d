import {
  conversationSchema,
  type Conversation,
} from '#shared/conversation/documents/conversation.ts';
import { finding, findingWhen, type Finding } from './finding.ts';
import { conversationOfPath, type Loaded } from './load/loaded.ts';
import { OVERDUE_MS } from './check-requests.ts';

/** Fields that a tombstone has not. */
const TELLING_FIELDS = [
  'title',
  'autoTitle',
  'systemInstruction',
  'toolsJson',
  'open',
  'queue',
  'pendingErasure',
  'deleteTime',
  'purgeTime',
  'forkedFrom',
  'memoryRevision',
  'client',
] as const satisfies readonly (keyof Conversation)[];

const known = new Set(Object.keys(conversationSchema.shape));

/** I7: a tombstone says nothing of anybody. */
function checkTombstone(target: {
  conversationId: string;
  conversation: Conversation;
  conversationFields: readonly string[];
}): Finding[] {
  const { conversation, conversationFields } = target;
  const { ownerUid, epoch, model, lastSeq, metadata, pins, settings } = conversation;
  const says = [
    ...(ownerUid || epoch || model ? ['it names somebody or something'] : []),
    ...(lastSeq > 0 || pins.length > 0 ? ['it tells of turns or pins'] : []),
    ...(Object.keys({ ...metadata, ...settings }).length > 0 ? ['it has settings'] : []),
    ...TELLING_FIELDS.filter((name) => conversationFields.includes(name)).map(
      (name) => `it has a ${name}`,
    ),
    ...conversationFields
      .filter((name) => !known.has(name))
      .map((name) => `it has a field ${name}`),
  ];
  return says.map((what) => finding('tombstone-tells', conversationOfPath(target), what));
}

/** I7: nothing stands below a conversation document that is erased or not there. */
export function checkRemains(
  target: Pick<Loaded, 'conversationId' | 'conversation' | 'conversationFields' | 'remains'>,
): Finding[] {
  const { conversation, conversationFields, remains } = target;
  if (conversation && conversation.state !== 'erased') return [];
  const name = conversation ? 'below-erased-head' : 'below-missing-head';
  return [
    ...(conversation ? checkTombstone({ ...target, conversation, conversationFields }) : []),
    ...remains.map((path) =>
      finding(name, path, conversation ? 'it was not erased' : 'it has no conversation'),
    ),
  ];
}

/** I7: of erased turns nothing is left, and an erasure that was begun ends. */
export function checkErasedTurns(
  target: Pick<Loaded, 'conversationId' | 'now' | 'turns' | 'histories'> & {
    conversation: Pick<Conversation, 'state' | 'updateTime' | 'pendingErasure' | 'pins'>;
    overdueMs?: number;
  },
): Finding[] {
  const { now, conversation, turns, histories, overdueMs = OVERDUE_MS } = target;
  const since =
    conversation.state === 'erasing' ? conversation.updateTime : conversation.pendingErasure?.since;
  const isStuck = since !== undefined && now.getTime() - since.getTime() > overdueMs;
  const stuck = findingWhen(
    isStuck,
    'erasure-stuck',
    conversationOfPath(target),
    `it is under way since ${since?.toISOString()}`,
  );
  // What is under way is not finished yet.
  if (conversation.state === 'erasing') return stuck;
  const pending = new Set(conversation.pendingErasure?.seqs);
  const erased = turns.filter(({ fields }) => fields.eraseTime && !pending.has(fields.seq));
  // A failed turn without tool rounds was never in a context, so nothing can have come of it.
  const toldOf = new Set(
    erased
      .filter(({ fields }) => fields.state !== 'failed' || fields.rounds !== undefined)
      .map(({ fields }) => fields.seq),
  );
  return [
    ...stuck,
    ...erased.flatMap(({ path, hasAnswer, below }) => [
      ...findingWhen(hasAnswer, 'erased-turn-tells', path, 'its answer is still there'),
      ...below.map((left) => finding('erased-turn-tells', left, 'it was not erased')),
    ]),
    ...histories.flatMap(({ path, citedSeqs }) => {
      const cited = citedSeqs.filter((seq) => toldOf.has(seq));
      return findingWhen(
        cited.length > 0,
        'history-cites-erased',
        path,
        `its statements cite turn ${cited.join(', ')}`,
      );
    }),
    ...conversation.pins.flatMap(({ id, seq }) =>
      findingWhen(
        seq !== undefined && toldOf.has(seq),
        'pin-of-erased',
        conversationOfPath(target),
        `pin ${id} comes of turn ${seq}`,
      ),
    ),
  ];
}
