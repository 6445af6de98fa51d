import {
  decodeConversation,
  type Conversation,
} from '#shared/conversation/documents/conversation.ts';
import { decodeMessageGuard } from '#shared/conversation/documents/message-guard.ts';
import {
  conversationPath,
  messageGuardPath,
  seqOfId,
} from '#shared/conversation/documents/paths.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { isOwn } from '#functions/chat/conversations/own-conversation.ts';

/** One read each; who has changed one message more often names the answer that is to be made anew. */
const REPLACEMENTS_FOLLOWED_MAX = 100;

/** The turn that was put in the place of this one first; later ones replaced that one. */
const replacementSeq = ({ replacedBy = {} }: Turn): number | undefined =>
  Object.keys(replacedBy)
    .map((id) => seqOfId(id, 't'))
    .filter((seq) => seq !== undefined)
    .toSorted((a, b) => a - b)
    .at(0);

/** What is known of a message: the caller’s conversation, and the turn that stands for it. */
interface Standing {
  /** `undefined` where there is none yet, or it is not the caller’s. */
  conversation: Conversation | undefined;
  turn: Turn | undefined;
}

/**
 * The turn that stands for a user's message now. The AI SDK keeps the id of a message that is edited, or
 * whose answer is made anew; here each of them is a turn and a message of its own, in the place of the one
 * before. `undefined` when the message is not known, or the conversation is not the caller's.
 */
export async function readStanding(
  { store }: Pick<ChatDependencies, 'store'>,
  target: { caller: Caller; conversationId: string; messageId: string },
): Promise<Standing> {
  const { caller, conversationId, messageId } = target;
  const [document, guard] = await store.get([
    conversationPath(conversationId),
    messageGuardPath(conversationId, messageId),
  ]);
  const conversation = document && decodeConversation(document).value;
  if (!conversation || !isOwn(conversation, caller))
    return { conversation: undefined, turn: undefined };
  if (!guard) return { conversation, turn: undefined };
  const read = async (seq: number) => (await readTurns(store, conversationId, [seq]))[0]?.value;
  let turn = await read(decodeMessageGuard(guard).seq);
  for (let followed = 0; turn && followed < REPLACEMENTS_FOLLOWED_MAX; followed++) {
    const seq = replacementSeq(turn);
    const next = seq === undefined ? undefined : await read(seq);
    // Else an earlier message was edited, and this one is gone with all that followed it.
    if (next?.replaces !== turn.seq) break;
    turn = next;
  }
  return { conversation, turn };
}
