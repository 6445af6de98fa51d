import type { OpenFile } from './open-files.ts';

/** What an app tells of the moment in which a message is sent. */
export interface ClientContext {
  /** IANA name such as Asia/Seoul, or an offset such as +09:00; absent: the one that was named last. */
  timeZone?: string | undefined;
  /** BCP 47. */
  locale?: string | undefined;
  appVersion?: string | undefined;
  screen?: string | undefined;
  openFiles?: OpenFile[] | undefined;
  /** Whatever else helps; of a list the newest entries stand last. */
  values?: Record<string, string | string[]> | undefined;
}

/** Values of one context, and UTF-16 units of their names. */
export const CONTEXT_VALUES_MAX = 32;
export const CONTEXT_NAME_MAX_CHARACTERS = 64;

/** UTF-16 units of the locale, the version and the screen, which are words. */
export const CONTEXT_WORD_MAX_CHARACTERS = 256;

/** UTF-8 bytes of a context as a prompt says it: it is stored in the turn's document, beside question and answer. */
export const CONTEXT_MAX_BYTES = 64 * 1024;

const gmtOffset = /^(?:GMT|UTC)([+-])(\d{1,2})(?::?(\d\d))?$/;
/** What a browser says that cannot tell. */
const UNKNOWN_ZONE = 'Etc/Unknown';

/**
 * The zone that a device names, as dates can be told in it: `GMT+9` and `GMT+0900`, which phones without a city say,
 * become `+09:00`; undefined: it does not know.
 */
export function validZone(name: string): string | undefined {
  if (name === UNKNOWN_ZONE) return undefined;
  const [, sign, hours, minutes = '00'] = gmtOffset.exec(name) ?? [];
  return sign && hours ? `${sign}${hours.padStart(2, '0')}:${minutes}` : name;
}

/** Whether a name is one that dates can be told in, or says that none is known. */
export function isTimeZone(name: string): boolean {
  try {
    const timeZone = validZone(name) ?? 'UTC';
    return new Intl.DateTimeFormat('en', { timeZone }).format(0) !== '';
  } catch {
    return false;
  }
}
