package dev.recap

private val UNDER_WAY = setOf("QUEUED", "RUNNING", "VERIFYING")
/** A compaction that is due begins within seconds; after that it is one that is not due. */
private const val DUE_WITHIN_MS = 15_000
/** So long a compaction takes; one that shows nothing new for longer waits for its next try. */
private const val MOVES_WITHIN_MS = 60_000
/** So much rarer are looks then. */
private const val SLOWER = 5

/** How long to pause before the next look at the context; null: no compaction is under way. */
internal fun watchPaceMs(context: ContextState?, unchangedMs: Long, watchMs: Long): Long? = when {
    context == null -> null
    context.compaction?.state in UNDER_WAY -> if (unchangedMs < MOVES_WITHIN_MS) watchMs else SLOWER * watchMs
    context.thresholdTokens == null || context.tokens < context.thresholdTokens -> null
    else -> watchMs.takeIf { unchangedMs < DUE_WITHIN_MS }
}
