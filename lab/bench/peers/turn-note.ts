/** What one turn took, where it could be counted. */
export interface PeerTurn {
  ms: number;
  reads?: number;
  writes?: number;
  bytes?: number;
  /** Of the turn in which older ones were summarised, where there was one. */
  summaryMs?: number;
}

const counted = (value: number) => Math.round(value).toLocaleString('en-US');

/** What a turn moves, for the report: documents, and bytes between client and database. */
export function turnNote(turn: PeerTurn | undefined): string {
  if (turn === undefined) return 'not measured';
  const { reads, writes, bytes, summaryMs } = turn;
  if (reads === undefined || writes === undefined || bytes === undefined) return 'a local file';
  const moved = `${reads} documents read, ${writes} written, ${counted(bytes / 1_000)} kB`;
  return summaryMs === undefined
    ? moved
    : `${moved}; the turn that summarised took ${counted(summaryMs)} ms`;
}
