/** Preloaded into every child of the stack: the channel to the parent closes when the parent is gone. */
process.once('disconnect', () => process.exit(0));
process.channel?.unref();
