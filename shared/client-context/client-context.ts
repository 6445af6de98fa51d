/** What an app tells of the moment in which a message is sent. */
export interface ClientContext {
  /** IANA name such as Asia/Seoul; absent: UTC. */
  timeZone?: string | undefined;
  /** BCP 47. */
  locale?: string | undefined;
  appVersion?: string | undefined;
  screen?: string | undefined;
  /** Whatever else helps; of a list the newest entries stand last. */
  values?: Record<string, string | string[]> | undefined;
}

/** UTF-16 units of one value, the text that stands for what was cut not counted; Gemini CLI's bound of a selection. */
export const CONTEXT_VALUE_MAX_CHARACTERS = 16_384;

/** Values of one context, and UTF-16 units of their names. */
export const CONTEXT_VALUES_MAX = 32;
export const CONTEXT_NAME_MAX_CHARACTERS = 64;

/** UTF-16 units of the locale, the version and the screen, which are words. */
export const CONTEXT_WORD_MAX_CHARACTERS = 256;

/** UTF-8 bytes of a context as a prompt says it: it is stored in the turn's document, beside question and answer. */
export const CONTEXT_MAX_BYTES = 64 * 1024;

/** Whether a name is one that dates can be told in. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format(0) !== '';
  } catch {
    return false;
  }
}
