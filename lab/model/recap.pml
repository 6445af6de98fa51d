/*
 * The protocol of one conversation: two chat instances, two compaction workers, the sweep and the owner's
 * other requests work on the same few documents at once. Spin visits every order of their batches, with
 * crashes, lost replies, lost, late and repeated events in between, up to the bounds below.
 *
 * Read it from top to bottom, the way a message goes: documents, invariants, chat (start, takeOver, finish,
 * publish), compaction (claim, plan, swap, settle, clearRequest), sweep, edit, deleteConversation.
 *
 * Every `atomic` is one read or one guarded batch of the code; between two of them anything may happen.
 *
 * What is left out, and so not proved here:
 * - Contents, tokens and prices. A turn weighs 1, a snapshot 0; the context is over the threshold at
 *   OVER_THRESHOLD turns, with no brake on; a fold keeps the newest turn. No pins or tool outputs.
 * - Clocks. The lease of a dead holder has expired, that of a live one may have at any moment, a back-off is
 *   over at once. So nothing here depends on the length of a lease or on the skew of clocks.
 * - The first message's creation of the head; chunks, status, quota, caches, blobs, fork, restore, erasing,
 *   queued messages, undelete. Lease renewals, which only move an update time of the writer's own.
 * - Limits on tries after a lost guard: here who loses reads again as often as it takes.
 * - Who waits for whom: safety and the end states are checked, not how soon something happens.
 */

/* Bounds, given by the caller (-D):
   MESSAGES  that clients send, and so turns; 6 at most, because sets of turns are bytes
   REPEATS   requests beyond one a message: a client that sends again, wherever it lands
   FAULTS    each is a crash of a chat instance or a worker between any two batches, an event that reaches
             nobody, a batch that was applied and whose reply is lost, a model call that fails, or a lease
             that runs out while its holder lives and goes on
   CHANGES   each is an edit, a request for compaction, or the deletion */
#define MAX_ATTEMPTS 2        /* shared/conversation/decisions/start-decision.ts has 3 */
#define ATTEMPTS_PER_REQUEST 2   /* shared/compaction/claim.ts has 3 */
#define OVER_THRESHOLD 2      /* finished turns that stand verbatim */
#define EVENTS_IN_FLIGHT 2    /* of more, one is as good as lost: the sweep must find the need */

/* ---- Documents -------------------------------------------------------------------------------------- */

/* State of a turn (shared/conversation/documents/turn.ts). RETRYABLE: failed, and the same message may try again; ABANDONED: the
   same, but another than its producer said so; CLOSED: went with its conversation; ERASED: was DONE, then changed or
   deleted by its owner. */
#define NONE 0
#define RUNNING 1
#define RETRYABLE 2
#define DONE 3
#define CLOSED 4
#define ERASED 5
#define ABANDONED 6
#define HAS_FAILED(state) ((state) == RETRYABLE || (state) == ABANDONED)

/* conversations/{c}, the head. Requests are numbered: 0 is none, MANUAL the manual one. */
bool live = true;
byte lastSeq;
byte openSeq;             /* head.open; 0: none */
byte generation;
byte coveredThrough;
byte autoRequest;
byte manualRequest;
#define MANUAL 15

/* conversations/{c}/turns/{seq}. State and attempt together never come back, so they stand for the turn's
   update time, and the attempt for the producer's nonce. */
byte turnState[MESSAGES + 2];
byte turnAttempt[MESSAGES + 2];
byte behind;              /* foldedInContext: begun anew behind a fold, and so in no context; bit n is turn n */

/* conversations/{c}/messages/{id} → seq */
byte seqOf[MESSAGES + 1];

/* conversations/{c}/histories/{g}: the newest that was created, and the turns that its snapshot tells of.
   Bit n is turn n. The same batch creates it and moves the head, or I3 below fails. */
byte lastHistory;
byte snapshot;

/* conversations/{c}/jobs/compaction, and what its records say. */
byte leaseOwner;
byte attemptsAt;          /* the automatic request that `attempts` counts */
byte attempts;
byte manualAttempts;
short swapped;            /* requests that led to a swap */
bool isManualRecorded;    /* the manual one has an outcome, whichever */

/* Update times of head and job: who has read the newest version. A write makes everybody stale. */
byte headReaders;
byte jobReaders;
#define READ_HEAD headReaders = headReaders | (1 << me)
#define READ_JOB  jobReaders = jobReaders | (1 << me)
#define HEAD_AS_READ (headReaders & (1 << me))
#define JOB_AS_READ  (jobReaders & (1 << me))
#define WROTE_HEAD headReaders = 0
#define WROTE_JOB  jobReaders = 0

/* Pub/Sub: compaction requests in flight. They carry nothing that a worker trusts, so they are counted. */
byte events;

/* The environment: what is left of the bounds. */
byte issued;
byte requests = MESSAGES + REPEATS;
byte faults = FAULTS;
byte changes = CHANGES;
bool isAnswering;         /* who holds the open turn lives */
bool isCompacting;        /* who holds the job's lease lives */
#define MAY_EXPIRE(isHeld) (!(isHeld) || faults > 0)
#define EXPIRES(isHeld) faults = faults - ((isHeld) -> 1 : 0)

/* ---- What the checker alone knows ------------------------------------------------------------------- */

/* Two instances of a kind are alike: of two that are idle the one with the odd id begins. */
bool isBusy[5];
#define MAY_BEGIN ((me & 1) || isBusy[me - 1])

byte answered;            /* bit n: turn n had its answer; never taken back */
short owed;               /* bit n: request n stands in the head and no outcome of it is recorded yet */
byte nextRequest = 1;
bool isTold;              /* an outcome that is no swap is on record for the context as it stands */

#define BIT(n) (1 << (n))
#define HAS(set, n) ((set) & BIT(n))

/* Holds after every batch: the shape of the documents (I1), the context (I2), generations (I3). */
inline checkInvariants() {
  assert(generation == lastHistory);                                          /* I3 */
  assert(turnState[lastSeq + 1] == NONE);                                     /* I1 */
  seq_ = 1;
  do
  :: seq_ <= lastSeq ->
     assert(turnState[seq_] != NONE);                                           /* I1: no gaps */
     assert(turnState[seq_] != RUNNING || seq_ == openSeq);
     /* I5: an answer that was given stays, unless its owner takes it away */
     assert(!HAS(answered, seq_) || turnState[seq_] == DONE || turnState[seq_] == ERASED);
     if :: seq_ <= coveredThrough ->
        /* I2: folded are turns that nobody answers any more, each as it stands now */
        assert(turnState[seq_] != RUNNING || HAS(behind, seq_));
        assert(!HAS_FAILED(turnState[seq_]) || seq_ < lastSeq);
        assert((turnState[seq_] == DONE && !HAS(behind, seq_)) == (HAS(snapshot, seq_) != 0))
     :: else ->
        /* I2: what stands verbatim is not in the snapshot as well */
        assert(!HAS(snapshot, seq_)) fi;
     seq_++
  :: else -> break od;
  seq_ = 0
}

/* Somebody dies here, keeping nothing. First line of a step, so that it lies between two batches. */
#define MAY_CRASH if :: faults > 0 -> faults--; goto gone :: skip fi

/* functions/src/chat/turns/finish/publish-request.ts */
inline publish() {
  if :: faults > 0 -> faults--
  :: events < EVENTS_IN_FLIGHT -> events++
  :: events == EVENTS_IN_FLIGHT -> skip fi
}

#define IS_SHOWN(seq) (turnState[seq] == DONE && !HAS(behind, seq))

/* What the context weighs: finished turns behind the snapshot, up to `last`. */
inline weigh(last) {
  visible = 0; seq_ = coveredThrough + 1;
  do
  :: seq_ <= last -> visible = visible + (IS_SHOWN(seq_) -> 1 : 0); seq_++
  :: else -> break od;
  seq_ = 0
}

/* functions/src/chat/turns/start/begin-turn.ts: what the context was when the turn began. The guard of the start
   says that nothing has moved since it was read. */
inline begin() {
  hadRequest = (autoRequest != 0 || manualRequest != 0);
  isProducer = true; isAnswering = true;
  message = 0; state = NONE; openState = NONE; openAttempt = 0;
  checkInvariants();
  weigh(lastSeq);                        /* those behind it as well, where it is answered in its place */
  if :: visible + 1 >= OVER_THRESHOLD && !HAS(behind, seq) -> visible = 0; beganIn = generation; goto finish  /* would cross */
  :: else -> visible = 0; goto commitFinish fi
}

/* A new automatic request in the head. Whatever it replaces was about the same turns, and is served with it. */
inline ask() {
  owed = (owed & ~BIT(autoRequest)) | BIT(nextRequest);
  autoRequest = nextRequest; nextRequest++
}

/* ---- Chat: functions/src/chat/turns/send/send-message.ts -------------------------------------------------------- */

proctype sender(byte me) {
  byte message, seq, attempt, state, openState, openAttempt, beganIn, visible, seq_;
  bool hadRequest, isProducer, asks, relies;

end_idle:
  atomic {
    requests > 0 && MAY_BEGIN ->
    isBusy[me] = true;
    requests--;
    if                                   /* a new message, or one again: a retry, a duplicate, a reload */
    :: issued < MESSAGES -> issued++; message = issued
    :: issued > 0 && requests >= MESSAGES - issued -> select (message : 1 .. issued) fi
readStart:                               /* functions/src/chat/turns/start/read-start.ts. There the turns are read after the
                                            head; whatever moves in between takes one of the guards with it */
    READ_HEAD;
    seq = seqOf[message];
    openState = NONE; openAttempt = 0; state = NONE; attempt = 0;
    if :: seq > 0 -> state = turnState[seq]; attempt = turnAttempt[seq] :: else fi;
    if :: openSeq > 0 && openSeq != seq -> openState = turnState[openSeq]; openAttempt = turnAttempt[openSeq]
    :: else fi;
    /* shared/conversation/decisions/start-decision.ts */
    if :: !live -> goto gone                                                    /* notFound */
    :: live && seq > 0 && HAS_FAILED(state) ->
       if :: attempt == MAX_ATTEMPTS -> goto gone                               /* it rests: for ever, in a search */
       :: attempt < MAX_ATTEMPTS && openState == RUNNING && isAnswering -> goto gone         /* busy: lease held */
#ifndef RETRY_WHILE_FOLDING
       :: attempt < MAX_ATTEMPTS && seq < lastSeq && seq > coveredThrough && (autoRequest != 0 || manualRequest != 0) ->
          goto gone                                                             /* a worker may be folding it */
#endif
       :: else ->
          if :: openState == RUNNING && MAY_EXPIRE(isAnswering) -> EXPIRES(isAnswering)      /* with closeExpired */
          :: openState != RUNNING fi;
          goto takeOver
       fi
    :: live && seq > 0 && state > RUNNING && !HAS_FAILED(state) -> goto gone    /* replay */
    :: live && seq > 0 && state == RUNNING && isAnswering -> goto gone          /* attach: lease held */
    :: live && seq > 0 && state == RUNNING && MAY_EXPIRE(isAnswering) ->
       EXPIRES(isAnswering);
       if :: attempt < MAX_ATTEMPTS -> goto takeOver :: else -> goto giveUp fi
    :: live && seq == 0 && openState == RUNNING && isAnswering -> goto gone     /* busy: lease held */
    :: live && seq == 0 && openState == RUNNING && MAY_EXPIRE(isAnswering) ->
       EXPIRES(isAnswering); goto start                                         /* with closeExpired */
    :: live && seq == 0 && openState != RUNNING -> goto start fi
  }

start:                                   /* startWrites in shared/conversation/writes/turn-writes.ts */
  atomic {
    MAY_CRASH;
    if :: HEAD_AS_READ && seqOf[message] == 0 &&
       (openState != RUNNING ||
        (turnState[openSeq] == RUNNING && turnAttempt[openSeq] == openAttempt)) ->
       if :: openState == RUNNING -> turnState[openSeq] = ABANDONED :: else fi; /* closeExpired */
       assert(turnState[lastSeq + 1] == NONE);
       seq = lastSeq + 1; attempt = 1;
       lastSeq = seq; openSeq = seq; seqOf[message] = seq;
       turnState[seq] = RUNNING; turnAttempt[seq] = 1;
       WROTE_HEAD; begin()
    :: else -> goto readStart fi
  }

takeOver:                                /* takeOverWrites in shared/conversation/writes/turn-writes.ts */
  atomic {
    MAY_CRASH;
    if :: HEAD_AS_READ && turnState[seq] == state && turnAttempt[seq] == attempt &&
       (openState != RUNNING || !HAS_FAILED(state) ||
        (turnState[openSeq] == RUNNING && turnAttempt[openSeq] == openAttempt)) ->
       if :: openState == RUNNING && HAS_FAILED(state) -> turnState[openSeq] = ABANDONED :: else fi;
       if :: seq <= coveredThrough -> behind = behind | BIT(seq) :: else fi;
       attempt++;
       turnState[seq] = RUNNING; turnAttempt[seq] = attempt; openSeq = seq;
       WROTE_HEAD; begin()
    :: else -> goto readStart fi
  }

giveUp:                                  /* the turn alone, under its own update time; then look again */
  atomic {
    MAY_CRASH;
    if :: turnState[seq] == RUNNING && turnAttempt[seq] == attempt ->
       turnState[seq] = ABANDONED; isAnswering = false
    :: else fi;
    checkInvariants();
    goto readStart
  }

finish:                                  /* functions/src/chat/turns/finish/request-at-end.ts, the model has answered */
  atomic {                               /* only by a turn that would cross */
    MAY_CRASH;
    asks = false; relies = (autoRequest != 0);
    if :: relies -> READ_HEAD              /* whoever serves the need that waits looks again */
    :: !relies && generation == beganIn -> asks = true; beganIn = 0
    :: else -> weigh(lastSeq); asks = (visible + 1 >= OVER_THRESHOLD); visible = 0; beganIn = 0 fi
  }
commitFinish:                            /* finish-turn.ts */
  atomic {                               /* the head must only exist, unless the turn relies on what it saw */
    MAY_CRASH;
    if :: turnState[seq] == RUNNING && turnAttempt[seq] == attempt ->
       if :: faults > 0 -> faults--; turnState[seq] = RETRYABLE; asks = false
       :: !relies || HEAD_AS_READ ->
          assert(!HAS(answered, seq));                                          /* I5 */
          turnState[seq] = DONE; answered = answered | BIT(seq); isTold = false;
          /* may take the place of a need that was set since it looked */
          if :: asks -> ask() :: else fi
       :: relies && !(HEAD_AS_READ) -> goto finish fi;
       openSeq = 0; isAnswering = false; WROTE_HEAD;
       checkInvariants()
    :: turnAttempt[seq] == attempt && turnState[seq] != RUNNING && turnState[seq] != CLOSED &&
       turnState[seq] != ABANDONED ->
       skip                              /* one's own finish, whose reply was lost */
    :: else -> goto gone                 /* taken over, closed or cancelled: this answer is nobody's */
    fi;
    if :: faults > 0 -> faults--; goto commitFinish
    :: asks || hadRequest -> skip
    :: !asks && !hadRequest -> goto gone fi
  }
  atomic { MAY_CRASH; publish() }        /* the need just set, or one that has waited since before */

  atomic {
    skip;
gone:
    if :: isProducer && turnState[seq] == RUNNING && turnAttempt[seq] == attempt -> isAnswering = false
    :: else fi;
    isBusy[me] = false; isProducer = false; hadRequest = false; asks = false; relies = false;
    message = 0; seq = 0; attempt = 0; state = NONE; openState = NONE; openAttempt = 0;
    beganIn = 0; visible = 0; seq_ = 0;
    headReaders = headReaders & ~(1 << me)
  }
  goto end_idle
}

/* ---- Compaction: functions/src/worker/compaction/run-compaction.ts ------------------------------------------ */

inline forgetPlan() {
  fromGeneration = 0; fromCovered = 0; upTo = 0; folded = 0; readSeq = 0; visible = 0; newest = 0; seq_ = 0
}

proctype worker(byte me) {
  byte need, fromGeneration, fromCovered, upTo, folded, readSeq, visible, newest, seq_;
  bool isClaimed, isFailure, stands, isSwapped, isRenewed;

end_idle:                                /* an event stays in flight until it is acknowledged, so that both */
claim:                                   /* workers may have it; a late one finds others' work done */
  atomic {                               /* functions/src/worker/compaction/claim.ts: head and job in one read */
    events > 0 && MAY_BEGIN ->
    isBusy[me] = true;
    READ_JOB; isClaimed = false; isFailure = false; isSwapped = false;
    need = (manualRequest != 0 -> manualRequest : autoRequest);
    fromGeneration = generation; fromCovered = coveredThrough; readSeq = lastSeq;
    folded = snapshot;
    if :: !live || need == 0 -> goto acknowledge                                /* NOT_LIVE, NO_REQUEST */
    :: live && need != 0 && leaseOwner != 0 && isCompacting -> goto later       /* LEASE_HELD: the sweep comes back */
    :: live && need != 0 && leaseOwner != 0 && MAY_EXPIRE(isCompacting) -> EXPIRES(isCompacting)
    :: live && need != 0 && leaseOwner == 0 fi
  }
  atomic {                               /* then the turns (read-for-compaction.ts), and the plan (plan.ts) */
    MAY_CRASH;
    upTo = fromCovered; visible = 0; seq_ = fromCovered + 1;
    do
    :: seq_ <= readSeq && turnState[seq_] != RUNNING ->
       if :: IS_SHOWN(seq_) ->              /* the newest that the context shows stays in the tail */
          if :: visible > 0 -> folded = folded | BIT(newest); upTo = seq_ - 1 :: else fi;
          newest = seq_; visible++
       :: else fi;
       seq_++
    :: else -> break od;
    seq_ = 0; newest = 0;
    /* shared/compaction/claim.ts */
    isSwapped = HAS(swapped, need) != 0;
    if :: isSwapped || (need == MANUAL && isManualRecorded) ->
       isFailure = !isSwapped; forgetPlan(); goto clearRequest                     /* only that is left */
    :: else fi;
    if :: (need == MANUAL && manualAttempts == ATTEMPTS_PER_REQUEST) ||
          (need != MANUAL && attemptsAt == need && attempts == ATTEMPTS_PER_REQUEST) ->
       isFailure = true; forgetPlan(); goto settle                              /* ATTEMPTS_USED_UP */
    :: else fi;
    if :: need != MANUAL && visible < OVER_THRESHOLD -> forgetPlan(); goto settle  /* BELOW_THRESHOLD */
    :: else fi;
    visible = 0
  }
  atomic {                               /* takeLease */
    MAY_CRASH;
    if :: JOB_AS_READ ->
       leaseOwner = me; isCompacting = true;
       if :: need == MANUAL -> manualAttempts++; assert(manualAttempts <= ATTEMPTS_PER_REQUEST)
       :: else -> attempts = (attemptsAt == need -> attempts + 1 : 1); attemptsAt = need;
                  assert(attempts <= ATTEMPTS_PER_REQUEST)                         /* I6: not for ever */
       fi;
       WROTE_JOB; READ_JOB; isClaimed = true
    :: else -> goto gone fi;
plan:                                    /* the model is asked; no lock is held, the user goes on chatting */
    if :: upTo > fromCovered                /* a summary that passed its checks */
    :: upTo == fromCovered -> isFailure = true; forgetPlan(); goto settle       /* NOTHING_TO_FOLD: a reason */
    :: upTo > fromCovered && faults > 0 -> faults--; isFailure = true; forgetPlan(); goto settle fi
  }
swap:                                    /* functions/src/worker/compaction/swap.ts: create(histories/{g+1}) and the
                                            job's update time are the guards; the head must only exist */
  atomic {
    MAY_CRASH;
    if :: lastHistory == fromGeneration && JOB_AS_READ ->
       assert(live && generation == fromGeneration);                            /* I4: not stale */
       assert(leaseOwner == me);
       lastHistory = fromGeneration + 1; snapshot = folded;
       generation = fromGeneration + 1; coveredThrough = upTo;
#ifdef WHOLE_DOCUMENT_REWRITE
       lastSeq = readSeq;                  /* and all else as this worker read it */
#endif
#ifdef SWAP_CLEARS_REQUEST
       autoRequest = 0; manualRequest = 0;
#endif
       WROTE_HEAD;
       leaseOwner = 0; isCompacting = false; swapped = swapped | BIT(need); owed = owed & ~BIT(need);
       isSwapped = true; isTold = false;
       WROTE_JOB;
       checkInvariants();
       if                                /* a replay finds histories/{g+1} by its own nonce: success */
       :: faults > 0 -> faults--; assert(lastHistory != fromGeneration)
       :: skip fi;
       forgetPlan(); goto clearRequest
    :: !live -> goto acknowledge                                                /* NOT_LIVE */
    :: live && lastHistory != fromGeneration -> forgetPlan(); goto settle       /* GENERATION_MOVED */
    :: else -> goto gone                                                        /* LEASE_LOST: again later */
    fi
  }

settle:                                  /* functions/src/worker/compaction/settle.ts: the record, the lease back */
  atomic {
    MAY_CRASH;
    if :: !JOB_AS_READ -> goto gone :: else fi;                                 /* LEASE_LOST */
    leaseOwner = 0; isCompacting = false;
    WROTE_JOB;
    if :: isClaimed && need != MANUAL && attempts < ATTEMPTS_PER_REQUEST -> goto later  /* retry: the sweep comes back */
    :: else fi;
    owed = owed & ~BIT(need); isManualRecorded = isManualRecorded || need == MANUAL
  }
clearRequest:                               /* functions/src/worker/compaction/clear-request.ts: under the head's update time,
                                            and only the need that was served; renewed where no failure explains
                                            that the context is over the threshold */
  atomic {
    READ_HEAD;
    stands = (live && (autoRequest == need || manualRequest == need));
    isRenewed = false;
    if :: stands && !isFailure && need != MANUAL ->
       weigh(lastSeq); isRenewed = (visible >= OVER_THRESHOLD); visible = 0
    :: else fi;
#ifdef SETTLE_DOES_NOT_LOOK_AGAIN
    isRenewed = false
#endif
  }
  atomic {
    MAY_CRASH;
    if :: !stands -> goto acknowledge
    :: stands && HEAD_AS_READ ->
       assert(!HAS(owed, need));                                                /* I6: not without record */
       if :: need == MANUAL -> manualRequest = 0 :: else -> autoRequest = 0 fi;
       isTold = isTold || isFailure;
       WROTE_HEAD;
       if :: isRenewed -> ask() :: else -> goto acknowledge fi
    :: else -> goto clearRequest fi
  }
  atomic { MAY_CRASH; publish() }
acknowledge:                             /* I6: nobody takes an event away from a need that still stands */
  atomic {
    assert(!live || need == 0 || (autoRequest != need && manualRequest != need));
later:                                   /* acknowledged too: the need stands, and the sweep finds it */
    if :: events > 0 -> events-- :: else fi;
gone:                                    /* or nacked, or dead: delivered again */
    if :: leaseOwner == me && JOB_AS_READ -> isCompacting = false :: else fi;
    forgetPlan();
    need = 0; isClaimed = false; isFailure = false; stands = false; isSwapped = false;
    isRenewed = false; isBusy[me] = false;
    headReaders = headReaders & ~(1 << me);
    jobReaders = jobReaders & ~(1 << me)
  }
  goto end_idle
}

/* ---- The sweep: an event on the worker's topic every few minutes ------------------------------------- */

proctype sweep() {                       /* functions/src/worker/sweep/sweep-turns.ts, sweep-requests.ts */
  byte seq, attempt, seq_;

end_idle:
  do
  :: atomic { live && openSeq > 0 && turnState[openSeq] == RUNNING && MAY_EXPIRE(isAnswering) ->
              EXPIRES(isAnswering); seq = openSeq; attempt = turnAttempt[seq] }
     atomic {                            /* an open turn whose lease has expired: guarded by the turn */
       if :: turnState[seq] == RUNNING && turnAttempt[seq] == attempt ->
          turnState[seq] = ABANDONED; openSeq = 0; isAnswering = false; WROTE_HEAD; checkInvariants()
       :: else fi;
       seq = 0; attempt = 0
     }
  :: atomic {                            /* a need older than its event should be: told again */
       live && (autoRequest != 0 || manualRequest != 0) && events == 0 ->
       publish()
     }
  od
}

/* ---- The owner's other requests, each under the head's update time ----------------------------------- */

proctype owner(byte me) {
  byte seq, openAttempt, visible, seq_;
  bool isRequested, isAsked;

end_idle:
  do
  :: changes > 0 -> changes--            /* none after all: what holds at the end must hold without it */
  :: atomic {                            /* edit, or deletion of a finished turn, folded or not */
       changes > 0 && live && answered != 0 -> READ_HEAD; select (seq : 1 .. lastSeq)
     }
edit:                                    /* functions/src/chat/conversations/erase/delete-message.ts, change-generation.ts */
     atomic {
       if :: HEAD_AS_READ && turnState[seq] == DONE ->
          turnState[seq] = ERASED; changes--;
#ifdef EDIT_TAKES_NO_GENERATION
          snapshot = snapshot & ~BIT(seq);
#else
          lastHistory++; generation = lastHistory;                              /* changedIn is this one */
          /* A snapshot that tells of it does not go on: folded turns stand verbatim again, too many perhaps */
          if :: seq <= coveredThrough && HAS(snapshot, seq) ->
             snapshot = 0; coveredThrough = 0; isTold = false;
             weigh(lastSeq);
             if :: visible >= OVER_THRESHOLD && autoRequest == 0 && manualRequest == 0 -> ask(); isAsked = true
             :: else fi;
             visible = 0
          :: else fi;
#endif
          WROTE_HEAD; checkInvariants()
       :: else -> skip                   /* lost the guard: reads again, may be another turn by then */
       fi;
       seq = 0; headReaders = headReaders & ~(1 << me)
     }
     atomic { if :: isAsked -> isAsked = false; publish() :: else fi }
  :: atomic { changes > 0 && live && !isRequested -> READ_HEAD }
requestCompaction:                       /* functions/src/chat/context/request-compaction.ts */
     atomic {
       if :: HEAD_AS_READ ->
          manualRequest = MANUAL; owed = owed | BIT(MANUAL); isRequested = true; changes--;
          WROTE_HEAD; publish()
       :: else fi;
       headReaders = headReaders & ~(1 << me)
     }
  :: atomic {                            /* soft delete: the head, and an open turn under its own time */
       changes > 0 && live -> READ_HEAD; seq = openSeq; openAttempt = turnAttempt[seq]
     }
deleteConversation:                      /* functions/src/chat/conversations/erase/delete-conversation.ts */
     atomic {
       if :: HEAD_AS_READ &&
          (seq == 0 || turnState[seq] != RUNNING || turnAttempt[seq] == openAttempt) ->
          live = false; openSeq = 0; changes--; autoRequest = 0; manualRequest = 0; owed = 0;
          lastHistory++; generation = lastHistory;
          if :: seq > 0 && turnState[seq] == RUNNING -> turnState[seq] = CLOSED; isAnswering = false :: else fi;
          WROTE_HEAD; checkInvariants()
       :: else fi;
       seq = 0; openAttempt = 0; headReaders = headReaders & ~(1 << me)
     }
  od
}

/* ---- When nobody can do anything any more ------------------------------------------------------------ */

proctype quiescence() {
  byte message = 1, visible, seq_;
end_idle:
  timeout ->
  d_step {
    do
    :: message <= MESSAGES ->            /* I5: each message that was accepted has one end */
       assert(seqOf[message] == 0 || turnState[seqOf[message]] > RUNNING);
       message++
    :: else -> break od;
    assert(!live || (autoRequest == 0 && manualRequest == 0));                        /* I6: none forgotten */
    assert(!live || owed == 0);                                                 /* I6: each has its outcome */
    weigh(lastSeq);                      /* I6: no crossing is unheard: each has its swap, or its record */
    assert(!live || visible < OVER_THRESHOLD || isTold);
    message = 0; visible = 0
  }
}

init {
  atomic {
    run sender(1); run sender(2);
    run worker(3); run worker(4);
    run owner(5);
#ifndef NO_SWEEP
    run sweep();
#endif
    run quiescence()
  }
}
