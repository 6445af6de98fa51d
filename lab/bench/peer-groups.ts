import type { BenchGroup } from './bench-case.ts';
import { peerCompactionGroups } from './cases/peer-compaction.ts';
import { peerTurnGroup } from './cases/peer-turns.ts';

/** Everything that is measured beside a peer, in the order of the report. */
export const peerGroups = (): BenchGroup[] => [peerTurnGroup(), ...peerCompactionGroups()];
