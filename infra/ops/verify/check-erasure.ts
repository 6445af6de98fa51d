import { headSchema, type Head } from '#shared/conversation/documents/head.ts';
import { finding, findingWhen, type Finding } from './finding.ts';
import { pathOfHead, type Loaded } from './load/loaded.ts';
import { OVERDUE_MS } from './check-needs.ts';

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
] as const satisfies readonly (keyof Head)[];

const known = new Set(Object.keys(headSchema.shape));

/** I7: a tombstone says nothing of anybody. */
function checkTombstone(target: {
  conversationId: string;
  head: Head;
  headFields: readonly string[];
}): Finding[] {
  const { head, headFields } = target;
  const { ownerUid, epoch, model, lastSeq, metadata, pins, settings } = head;
  const says = [
    ...(ownerUid || epoch || model ? ['it names somebody or something'] : []),
    ...(lastSeq > 0 || pins.length > 0 ? ['it tells of turns or pins'] : []),
    ...(Object.keys({ ...metadata, ...settings }).length > 0 ? ['it has settings'] : []),
    ...TELLING_FIELDS.filter((name) => headFields.includes(name)).map((name) => `it has a ${name}`),
    ...headFields.filter((name) => !known.has(name)).map((name) => `it has a field ${name}`),
  ];
  return says.map((what) => finding('tombstone-tells', pathOfHead(target), what));
}

/** I7: nothing stands below a head that is erased or not there. */
export function checkRemains(
  target: Pick<Loaded, 'conversationId' | 'head' | 'headFields' | 'remains'>,
): Finding[] {
  const { head, headFields, remains } = target;
  if (head && head.state !== 'erased') return [];
  const name = head ? 'below-erased-head' : 'below-missing-head';
  return [
    ...(head ? checkTombstone({ ...target, head, headFields }) : []),
    ...remains.map((path) =>
      finding(name, path, head ? 'it was not erased' : 'it has no conversation'),
    ),
  ];
}

/** I7: of erased turns nothing is left, and an erasure that was begun ends. */
export function checkErasedTurns(
  target: Pick<Loaded, 'conversationId' | 'now' | 'turns' | 'histories'> & {
    head: Pick<Head, 'state' | 'updateTime' | 'pendingErasure' | 'pins'>;
    overdueMs?: number;
  },
): Finding[] {
  const { now, head, turns, histories, overdueMs = OVERDUE_MS } = target;
  const since = head.state === 'erasing' ? head.updateTime : head.pendingErasure?.since;
  const isStuck = since !== undefined && now.getTime() - since.getTime() > overdueMs;
  const stuck = findingWhen(
    isStuck,
    'erasure-stuck',
    pathOfHead(target),
    `it is under way since ${since?.toISOString()}`,
  );
  // What is under way is not finished yet.
  if (head.state === 'erasing') return stuck;
  const pending = new Set(head.pendingErasure?.seqs);
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
    ...head.pins.flatMap(({ id, seq }) =>
      findingWhen(
        seq !== undefined && toldOf.has(seq),
        'pin-of-erased',
        pathOfHead(target),
        `pin ${id} comes of turn ${seq}`,
      ),
    ),
  ];
}
