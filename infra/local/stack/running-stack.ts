import type { RunningParts } from './stack-children.ts';

export interface Stack extends RunningParts {
  chatUrl: string;
  compactionUrl: string;
  /** Absent where no page was asked for. */
  pageUrl?: string;
  /** Where faults are ordered, with the token of this start; absent where that was not asked for. */
  supervisor?: { url: string; token: string };
  /** Absent when a real model answers. */
  standInUrl?: string | undefined;
  /** Absent in the embedded mode. */
  firestoreHost?: string;
  projectId: string;
  /** The variables of the functions that say where things are and how much is compacted; no secrets. */
  variables: Readonly<Record<string, string>>;
  /** What holds the data, for people. */
  backend: string;
  /** Who answers, for people. */
  model: string;
  /** Ends every process that was started; resolves when they are gone and the ports free. */
  stop(): Promise<void>;
}
