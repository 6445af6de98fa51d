/** How the compaction topic is delivered to the worker; Pub/Sub takes back-offs in whole seconds. */
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
