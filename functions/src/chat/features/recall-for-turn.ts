import { addAfterwork, type ChatDependencies } from '../chat-dependencies.ts';
import type { SendRequest } from '../turns/send/send-request.ts';
import { recallTokens } from '#functions/config/conversation-policy.ts';
import { withDeadline } from '#functions/lib/deadline.ts';
import { foldedThrough, loadIndex, type LoadedIndex } from '#functions/recall/read-index.ts';
import { indexEvent } from '#shared/compaction/event.ts';
import { answerText, contentText, type Content } from '#shared/models/content.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { workingItems } from '#shared/conversation/documents/snapshot.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { recall, findableStatements, type Statements } from '#shared/recall/recall.ts';
import {
  renderRecalled,
  roomForRecords,
  knownText,
  type KnownText,
} from '#shared/recall/excerpts.ts';
import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';

/**
 * A turn waits for its index this long, from the time that its conversation document was read; then it goes on without.
 */
const INDEX_WAIT_MS = 100;

/** An index that is being loaded: what is late is there for the next turn. */
export interface IndexLoad {
  startMs: number;
  index: Promise<LoadedIndex | undefined>;
}

type LoadDependencies = Pick<
  ChatDependencies,
  'store' | 'cache' | 'config' | 'logger' | 'clock' | 'publisher' | 'afterwork'
>;

/** Tells the workers that turns which are folded stand in no index; a hint that is lost is given again by the next turn. */
async function askForIndex(
  { publisher, logger }: LoadDependencies,
  target: { conversationId: string; isBroken: boolean },
): Promise<void> {
  logger.log(target.isBroken ? 'WARNING' : 'INFO', 'recall_index_behind', target);
  try {
    await publisher.publish({ topic: 'compaction', data: indexEvent(target) });
  } catch {
    // Said above, and again with the next turn.
  }
}

async function loadOrLog(
  dependencies: LoadDependencies,
  target: { conversationId: string; conversation: Conversation },
): Promise<LoadedIndex | undefined> {
  const { conversationId, conversation } = target;
  try {
    const index = await loadIndex(dependencies, target);
    if (index.isBroken || index.throughSeq < foldedThrough(conversation))
      await askForIndex(dependencies, { conversationId, isBroken: index.isBroken });
    return index;
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error;
    dependencies.logger.log('WARNING', 'recall_index_unread', { conversationId, error: name });
    return undefined;
  }
}

/**
 * Begins to load the index of a conversation beside what a turn reads anyway; undefined: nothing is folded, or nothing
 * is to be brought back.
 */
export function startIndexLoad(
  dependencies: LoadDependencies,
  { request, conversation }: { request: SendRequest; conversation: Conversation },
): IndexLoad | undefined {
  if (
    foldedThrough(conversation) <= 0 ||
    recallTokens(dependencies.config, conversation, { request }) === 0
  )
    return undefined;
  const index = loadOrLog(dependencies, { conversationId: request.conversationId, conversation });
  addAfterwork(dependencies, index);
  return { startMs: dependencies.clock.now().getTime(), index };
}

/** The index if it is there in time. */
async function inTime(
  { clock, logger }: Pick<ChatDependencies, 'clock' | 'logger'>,
  { index, startMs }: IndexLoad,
  conversationId: string,
): Promise<LoadedIndex | undefined> {
  const ms = Math.max(1, startMs + INDEX_WAIT_MS - clock.now().getTime());
  const { signal } = new AbortController();
  try {
    return await withDeadline({ clock, ms, signal }, () => index);
  } catch {
    logger.log('WARNING', 'recall_late', { conversationId, waitedMs: INDEX_WAIT_MS });
    return undefined;
  }
}

/** What was brought back for one turn: stored with it without its words, which stand where they were said. */
export interface Recalled {
  /** What stands before the message in this call; '' where nothing fits. */
  text: string;
  /** Uncalibrated. */
  tokens: number;
  /** The turns that it is from, ascending. */
  seqs: number[];
}

const nothingRecalled: Recalled = { text: '', tokens: 0, seqs: [] };

/** Histories and finished turns never change: what they say is made out once. */
const termsOfHistories = new WeakMap<History, readonly KnownText[]>();
const termsOfTurns = new WeakMap<Turn, readonly KnownText[]>();

function remembered<Key extends object>(
  known: WeakMap<Key, readonly KnownText[]>,
  key: Key,
  textsOf: (key: Key) => readonly string[],
): readonly KnownText[] {
  const found = known.get(key) ?? textsOf(key).map(knownText);
  known.set(key, found);
  return found;
}

const snapshotTexts = ({ snapshot }: History) =>
  snapshot ? workingItems(snapshot).map(({ text }) => text) : [];
const turnTexts = ({ user, contents }: Turn) => [user, ...contents].map(contentText);

/** What the context says anyway: statements of the snapshot, messages of the tail. */
function saidTexts(history: History | undefined, turns: readonly Turn[]): KnownText[] {
  return [
    ...(history ? remembered(termsOfHistories, history, snapshotTexts) : []),
    ...turns.flatMap((turn) => remembered(termsOfTurns, turn, turnTexts)),
  ];
}

const archives = new WeakMap<History, Statements>();

/** What left the snapshot, ready to be asked. */
function archiveOf(history: History): Statements {
  const known = archives.get(history) ?? findableStatements(history.snapshot?.archive ?? []);
  archives.set(history, known);
  return known;
}

/** The text of the newest answer of the tail, for a message that says nothing by itself. */
const lastAnswerOf = (turns: readonly Turn[]): string | undefined => {
  const last = turns.findLast(({ inContext }) => inContext);
  return last && answerText(last.contents);
};

/** A turn that begins, and the context that it answers from. */
interface RecallContext {
  conversationId: string;
  conversation: Conversation;
  history: History | undefined;
  turns: readonly Turn[];
  message: Content;
  budgetTokens: number;
}

function recallFrom(index: LoadedIndex, context: RecallContext): Recalled {
  const { conversation, history, turns, message, budgetTokens } = context;
  const excerpts = recall({
    message: contentText(message),
    lastAnswer: lastAnswerOf(turns),
    segments: index.segments,
    archive: history && archiveOf(history),
    // An edit may have taken the context back behind what was loaded.
    throughSeq: Math.min(index.throughSeq, foldedThrough(conversation)),
    hidden: new Set(conversation.pendingErasure?.seqs ?? []),
    known: saidTexts(history, turns),
    hasRoomFor: roomForRecords(budgetTokens),
  });
  const text = renderRecalled(excerpts);
  const seqs = [...new Set(excerpts.map(({ seq }) => seq))].toSorted((a, b) => a - b);
  const tokens = text === '' ? 0 : estimateTextTokens(text, 'character-class');
  return { text, tokens, seqs };
}

/**
 * What of the folded turns the message is about, for this one call. Never holds a turn up and never fails one: an index
 * that is not there in time brings nothing back, and the log says so.
 */
export async function recallForTurn(
  dependencies: Pick<ChatDependencies, 'clock' | 'logger'>,
  load: IndexLoad | undefined,
  context: RecallContext,
): Promise<Recalled> {
  const { clock, logger } = dependencies;
  const { conversationId } = context;
  if (!load || context.budgetTokens <= 0) return nothingRecalled;
  const index = await inTime(dependencies, load, conversationId);
  if (!index) return nothingRecalled;
  const startMs = clock.now().getTime();
  try {
    const recalled = recallFrom(index, context);
    const endMs = clock.now().getTime();
    const { tokens, seqs } = recalled;
    logger.log('INFO', 'turn_recalled', {
      conversationId,
      turns: seqs.length,
      tokens,
      // Since the index began to be loaded, with what the turn read beside it.
      waitedMs: startMs - load.startMs,
      tookMs: endMs - load.startMs,
    });
    return recalled;
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error;
    logger.log('ERROR', 'recall_failed', { conversationId, error: name });
    return nothingRecalled;
  }
}
