import type { Logger, StoredDocument } from '#shared/ports/ports.ts';
import { readHistoryDocument, type History } from '../documents/history.ts';
import { problemText } from '../documents/read-fields.ts';

/** Without one of these nobody can say what a history stands in for. */
const ESSENTIAL = ['coveredThrough', 'snapshotJson', 'masksJson'];

/** All that may be used of a history that cannot be read: that there is one. */
const unreadableHistory = (history: History): History => ({
  ...history,
  snapshot: null,
  snapshotText: '',
  snapshotTokens: 0,
  masks: [],
  maskedTokensSaved: 0,
  counted: undefined,
  report: {},
  isUnreadable: true,
});

/**
 * A history as it was stored. Fields that cannot be read are told in the log; where one of them is essential, the
 * history says nothing (`isUnreadable`). Throws NewerDocumentError.
 */
export function readStoredHistory(
  { logger }: { logger: Pick<Logger, 'log'> },
  conversationId: string,
  document: StoredDocument,
): History {
  const { history, problems } = readHistoryDocument(document);
  if (problems.size === 0) return history;
  const { generation } = history;
  const problem = problemText(problems);
  logger.log('ERROR', 'history_unreadable', { conversationId, generation, problem });
  return ESSENTIAL.some((field) => problems.has(field)) ? unreadableHistory(history) : history;
}
