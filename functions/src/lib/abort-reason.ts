/**
 * The reason with which a wait is ended that nobody waits for any more, and a connection that has served. Without one,
 * `abort` makes an exception with a stack trace: of a stream's processor time a tenth.
 */
export const ABORT_REASON = 'called off';
