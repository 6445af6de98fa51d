import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { historyPath } from '#shared/conversation/documents/paths.ts';
import { finding, findingWhen, type Finding } from './finding.ts';
import type { Loaded, StoredHistory } from './load/loaded.ts';

type Generations = Pick<Loaded, 'conversationId' | 'histories'> & {
  conversation: Pick<Conversation, 'generation' | 'coveredThrough'>;
  unreadable?: readonly { path: string }[];
};

const SHA256 = /^[0-9a-f]{64}$/u;

/** States of histories that a worker makes; the others go on with what one of these says. */
export const isSwap = ({ fields: { state } }: Pick<StoredHistory, 'fields'>): boolean =>
  state === 'COMPACTED' || state === 'CONTENT_TRUNCATED';

function checkHistory(conversationId: string, history: StoredHistory): Finding[] {
  const { path, fields, hasSnapshot, brokenBlobs, isSigned } = history;
  const { generation, parent, state, coveredThrough, erased, mended, sourceHash } = fields;
  const isFolded = state === 'COMPACTED' && coveredThrough.seq > 0 && erased !== true;
  return [
    ...findingWhen(
      path !== historyPath(conversationId, generation),
      'history-misplaced',
      path,
      `it says that it is generation ${generation}`,
    ),
    ...findingWhen(parent !== generation - 1, 'history-parent', path, `its parent is ${parent}`),
    ...findingWhen(
      isFolded && !hasSnapshot,
      'history-empty',
      path,
      'it folds turns and says nothing',
    ),
    ...findingWhen(
      isFolded && mended !== true && !SHA256.test(sourceHash),
      'history-source',
      path,
      'its sourceHash is no SHA-256',
    ),
    ...findingWhen(isSigned === false, 'history-signature', path, 'its signature does not verify'),
    ...brokenBlobs.map((name) => finding('blob-missing', path, `it names blobs/${name}`)),
  ];
}

/** I3: generations 1 to the conversation document's, each a whole, signed child of the one before. */
export function checkHistories(generations: Generations): Finding[] {
  const { conversationId, conversation, histories, unreadable = [] } = generations;
  const there = new Set([...histories, ...unreadable].map(({ path }) => path));
  const found: Finding[] = [];
  for (let generation = 1; generation <= conversation.generation; generation += 1) {
    const path = historyPath(conversationId, generation);
    if (!there.has(path))
      found.push(
        finding(
          'history-missing',
          path,
          `there is no history of generation ${generation}, the head is in ${conversation.generation}`,
        ),
      );
  }
  for (const history of histories) {
    const { generation } = history.fields;
    found.push(...checkHistory(conversationId, history));
    if (generation > conversation.generation)
      found.push(
        finding(
          'history-beyond',
          history.path,
          `the head is in generation ${conversation.generation}`,
        ),
      );
  }
  return found;
}
