type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';

/** What Recap notes where a filter blocked the prompt: there is no answer that could give a reason. */
export const BLOCKED_PROMPT = 'BLOCKED_PROMPT';

/** How the wire names what the model gave as its reason to stop. */
export function toFinishReason(reason: string | undefined): FinishReason {
  switch (reason) {
    case 'STOP':
      return 'stop';
    case 'MAX_TOKENS':
    // A model offers to go on in another call: what one call can say is what a turn can hold.
    case 'CONTINUATION':
      return 'length';
    case 'SAFETY':
    case 'RECITATION':
    case 'BLOCKLIST':
    case 'PROHIBITED_CONTENT':
    case 'SPII':
    case 'MODEL_ARMOR':
    case 'IMAGE_SAFETY':
    case 'IMAGE_PROHIBITED_CONTENT':
    case 'IMAGE_RECITATION':
    case BLOCKED_PROMPT:
      return 'content-filter';
    case undefined:
      return 'error';
    default:
      return 'other';
  }
}
