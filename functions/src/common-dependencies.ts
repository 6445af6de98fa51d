import type { RecapApp } from './app.ts';
import type { Config } from './config.ts';
import type { Accounting } from './quota/accounting.ts';
import type { SearchCache } from '#shared/recall/search-cache.ts';
import type {
  AtCrashPoint,
  Clock,
  DocumentStore,
  EventPublisher,
  FileBucket,
  Logger,
  Randomness,
  Sha256,
  Signer,
} from '#shared/ports/ports.ts';

/** What both functions work with. */
export interface CommonDependencies {
  config: Config;
  store: DocumentStore;
  cache: SearchCache;
  publisher: EventPublisher;
  /** The bucket of uploads; undefined where there are none. */
  files?: FileBucket | undefined;
  accounting: Accounting;
  clock: Clock;
  randomness: Randomness;
  sha256: Sha256;
  /** Signs what webhooks read folded turns with; absent where HOOK_SIGNING_KEY is not set. */
  signer?: Signer | undefined;
  logger: Logger;
  atCrashPoint: AtCrashPoint;
  /**
   * Fires when the process has been told to end: chat refuses new messages and goes on with running turns; what a worker
   * does stops, and goes on elsewhere.
   */
  shutdown: AbortSignal;
  /** The app's step behind an answered turn; the worker's sweep makes up for it. */
  afterTurn?: RecapApp['afterTurn'];
}
