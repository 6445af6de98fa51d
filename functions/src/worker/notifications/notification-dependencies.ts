import type {
  Clock,
  DocumentStore,
  EventWebhook,
  Logger,
  Notifier,
  Sha256,
} from '#shared/ports/ports.ts';
import type { Config } from '#functions/config.ts';

/** What telling devices and the operator of events works with. */
export interface NotificationDependencies {
  config: Config;
  store: DocumentStore;
  clock: Clock;
  sha256: Sha256;
  logger: Logger;
  /** Absent where FCM_PROJECT is not set. */
  notifier?: Notifier;
  /** Absent where EVENT_WEBHOOK_URL is not set. */
  eventWebhook?: EventWebhook;
}
