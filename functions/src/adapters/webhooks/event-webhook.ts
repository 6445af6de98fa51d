import { HOOK_TIMEOUT_MS } from '#shared/compaction/summariser/hooks.ts';
import type { EventWebhook } from '#shared/ports/ports.ts';
import { postSigned, webhookFailed, type SignedPostOptions } from './signed-post.ts';

/** The operator's webhook of events at `url`: signed as hooks are, within the time that hooks have. */
export const createEventWebhook = (url: string, options: SignedPostOptions): EventWebhook => ({
  tell: async (event, signal) => {
    const late = AbortSignal.timeout(HOOK_TIMEOUT_MS);
    const body = JSON.stringify(event);
    try {
      const either = AbortSignal.any([signal, late]);
      const response = await postSigned(options, { url, body }, either);
      await response.body?.cancel();
    } catch (error) {
      if (!late.aborted || signal.aborted) throw error;
      throw webhookFailed({ url }, `took longer than ${HOOK_TIMEOUT_MS} ms`, error);
    }
  },
});
