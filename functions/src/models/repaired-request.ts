import { repairPrompt } from '#shared/conversation/repair/repair-prompt.ts';
import { addRepairs, type Repairs } from '#shared/conversation/repair/repairs.ts';
import type { Logger, ModelRequest } from '#shared/ports/ports.ts';

/**
 * The request as a model takes it, and what was wrong with its history, which is told in the log. Every call that
 * sends a conversation goes through it; a whole history is passed on as it is.
 */
export function repairedRequest(
  { logger }: { logger: Pick<Logger, 'log'> },
  request: ModelRequest,
): { request: ModelRequest; repairs: Repairs | undefined } {
  const mended = repairPrompt(request);
  const { repairs: earlier, ...whole } = request;
  const repairs = addRepairs(earlier, mended.repairs);
  if (repairs) {
    const { promptId, role, model } = request;
    logger.log('WARNING', 'history_mended', { promptId, role, model, ...repairs });
  }
  return { request: { ...whole, contents: mended.contents }, repairs };
}
