import { z } from 'zod';

/** A file that is open in an editor. */
export interface OpenFile {
  path: string;
  /** When it had the focus last, RFC 3339. */
  focusTime: string;
  /** The user is in it. */
  isActive?: boolean | undefined;
  /** Where, and what is selected; described of the active file alone. Both from 1. */
  cursor?: { line: number; character: number } | undefined;
  selectedText?: string | undefined;
}

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

/**
 * What is remembered of a conversation's client: the time zone and the locale that were named last. It stands in the
 * conversation document, which every start reads and writes anyway.
 */
export const knownClientSchema = z.object({
  timeZone: z.string().optional(),
  locale: z.string().optional(),
});
export type KnownClient = z.infer<typeof knownClientSchema>;

/** What is known after a message: what it names, else what was known before; empty where nothing ever was. */
export function knownAfter(
  known: KnownClient | undefined,
  context: ClientContext | undefined,
): KnownClient {
  const timeZone = validZone(context?.timeZone ?? UNKNOWN_ZONE) ?? known?.timeZone;
  const locale = context?.locale ?? known?.locale;
  return { ...(timeZone !== undefined && { timeZone }), ...(locale !== undefined && { locale }) };
}

/** What the model knows of the client after a turn, so that the next turn says only what has changed. */
export const describedClientSchema = z.object({
  /** Of the history that the model sees it in; in another one it is described in full again. */
  generation: z.number().int().nonnegative(),
  /** Of the user's clock from UTC at that moment; absent: no zone was named. */
  offsetMinutes: z.number().optional(),
  /** Digests of the lines that hold after the turn, by their names. */
  digests: z.record(z.string(), z.string()),
});
export type DescribedClient = z.infer<typeof describedClientSchema>;
