/** `data:image/png;base64,…`, with parameters or without; schemes and types are written in either case. */
const BEGINNING = /^data:([^;,]*)(?:;[^;,]*)*;base64,/i;

/** A file that is an address itself; undefined for any other address, and for data that is not base64. */
export function readDataUrl(url: string): { mediaType: string; data: string } | undefined {
  const [beginning, mediaType = ''] = BEGINNING.exec(url) ?? [];
  return beginning === undefined
    ? undefined
    : { mediaType: mediaType.toLowerCase(), data: url.slice(beginning.length) };
}

/** Media types by the ends of names: an address says no more. */
const TYPE_BY_ENDING: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  heic: 'image/heic',
  heif: 'image/heif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  mp4: 'video/mp4',
};

/** The media type of what an address names, by the end of its path; undefined for one that is not known. */
export function mediaTypeOfAddress(url: string): string | undefined {
  const path = URL.canParse(url) ? new URL(url).pathname : '';
  return TYPE_BY_ENDING[/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ''];
}
