import {
  type Conversation,
  type Versioned,
  pickSweepShard,
} from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import { METADATA_VALUE_MAX_CHARACTERS } from '#shared/wire/limits.ts';
import { isBeingImported } from './import-decision.ts';
import type { ImportedTurn } from './imported-turn.ts';

/** Some turns of a discussion, the next of its conversation. */
interface ImportBatch {
  conversationId: string;
  collection: string;
  turns: readonly ImportedTurn[];
  isLast: boolean;
  /** As it was read or written last; or the document to create. */
  conversation: Versioned<Conversation> | { create: Conversation };
}

const sumTokens = (turns: readonly ImportedTurn[]) =>
  turns.reduce((sum, { tokens }) => sum + tokens, 0);

/** Where it came from, for the app; a path that is longer than metadata may be is left out. */
const origin = (collection: string): Record<string, string> =>
  collection.length <= METADATA_VALUE_MAX_CHARACTERS ? { importedFrom: collection } : {};

function createdFields(
  { conversationId, collection, turns, isLast }: ImportBatch,
  create: Conversation,
): DocumentFields {
  const [first] = turns;
  return {
    ...create,
    ...(first && { createTime: first.createTime }),
    ...(first?.title !== undefined && { title: first.title, autoTitle: { throughSeq: 1 } }),
    state: isLast ? 'live' : 'deleted',
    metadata: origin(collection),
    sweepShard: pickSweepShard(conversationId),
    // An estimate that is about no turn: whether to compact is decided when the next message has been answered.
    context: { ...create.context, tokens: sumTokens(turns) },
  };
}

/**
 * One batch of an import: turns, and the conversation document that counts them. All but the last batch of a new
 * conversation leave it in the bin, where nobody can write in it.
 */
export function importWrites(batch: ImportBatch): Write[] {
  const { conversationId, turns, isLast, conversation } = batch;
  const path = conversationPath(conversationId);
  const last = turns.at(-1);
  const progress = last && { lastSeq: last.seq, updateTime: last.finishTime };
  const below = turns.flatMap(({ writes }) => writes);
  if ('create' in conversation) {
    const fields = { ...createdFields(batch, conversation.create), ...progress };
    return [{ op: 'create', path, fields }, ...below];
  }
  const { value, updateTime } = conversation;
  const fields = {
    ...progress,
    'context.tokens': value.context.tokens + sumTokens(turns),
    ...(isLast && isBeingImported(value) && { state: 'live' }),
  };
  return [{ op: 'update', path, fields, guard: { updateTime } }, ...below];
}
