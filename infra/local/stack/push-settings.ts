/** How both topics are delivered to the worker; Pub/Sub takes back-offs in whole seconds. */
export interface PushSettings {
  ackDeadlineSeconds: number;
  minBackoffSeconds: number;
  maxBackoffSeconds: number;
  /** After this many refusals a message goes to the dead-letter topic; at least 5. */
  maxDeliveryAttempts: number;
}

/** As deployed: docs/decisions and terraform name the same figures. */
export const deployedPushSettings: PushSettings = {
  ackDeadlineSeconds: 600,
  minBackoffSeconds: 10,
  maxBackoffSeconds: 600,
  maxDeliveryAttempts: 8,
};

/** Whether the worker has anything to do with the events topic: it is subscribed to it only then. */
export const listensToEvents = (settings: {
  FCM_PROJECT?: string | undefined;
  EVENT_WEBHOOK_URL?: string | undefined;
}): boolean => Boolean(settings.FCM_PROJECT) || Boolean(settings.EVENT_WEBHOOK_URL);
