/** Base64 that is decoded to look for pages; what is longer is counted by its beginning. */
const MOST_DECODED = 1 << 20;

/** `RIFF`, sizes, `WAVE` and the chunk `fmt ` as nearly every file begins: bytes 28 to 31 are bytes a second. */
const WAV_HEADER_BASE64 = 60;
const WAV_BYTE_RATE_AT = 28;
const WAV_HEADER_BYTES = 44;

/** The first bytes of base64 as a binary string, at most `length` characters of it; '' if it is none. */
function decoded(base64: string, length: number): string {
  try {
    return atob(base64.slice(0, length - (length % 4)));
  } catch {
    return '';
  }
}

const bytesOf = (base64: string) => Math.floor((base64.replace(/=+$/, '').length * 3) / 4);

/**
 * Pages of a PDF by the page objects that can be read in it; undefined where they are compressed, as newer
 * writers do, or it is no PDF. A heuristic: replaced pages that an edited file still holds count too.
 */
export function pdfPages(base64: string): number | undefined {
  const text = decoded(base64, MOST_DECODED);
  if (!text.startsWith('%PDF-')) return undefined;
  const found = text.match(/\/Type\s*\/Page(?![A-Za-z])/g)?.length ?? 0;
  return found === 0 ? undefined : Math.ceil(found * Math.max(1, base64.length / MOST_DECODED));
}

/** Seconds of a WAV file by its header; undefined where that has another form. */
export function wavSeconds(base64: string): number | undefined {
  const header = decoded(base64, WAV_HEADER_BASE64);
  if (!header.startsWith('RIFF') || header.slice(8, 16) !== 'WAVEfmt ') return undefined;
  const bytesPerSecond = [0, 1, 2, 3].reduce(
    (sum, index) => sum + header.charCodeAt(WAV_BYTE_RATE_AT + index) * 256 ** index,
    0,
  );
  if (bytesPerSecond === 0) return undefined;
  return Math.max(0, bytesOf(base64) - WAV_HEADER_BYTES) / bytesPerSecond;
}
