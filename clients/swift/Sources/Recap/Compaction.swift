extension ContextState {
  /// How long to pause before the next look at it; nil: nothing is under way.
  func watchPause(_ watch: Duration, unchanged: Duration) -> Duration? {
    if let state = compaction?.state, ["QUEUED", "RUNNING", "VERIFYING"].contains(state) {
      // One that shows nothing new for long waits for its next try.
      return unchanged < .seconds(60) ? watch : watch * 5
    }
    // One that is due begins within seconds; after that it is one that is not due.
    let isDue = thresholdTokens.map { tokens >= $0 } ?? false
    return isDue && unchanged < .seconds(15) ? watch : nil
  }
}
