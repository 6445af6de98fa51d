package dev.recap

import kotlinx.serialization.*
import kotlinx.serialization.json.*

/** A piece of a message. [Text] and [File] can be sent, also those of a message that is shown. */
@Serializable
sealed interface Part {
    @Serializable
    @SerialName("text")
    data class Text(val text: String) : Part

    @Serializable
    @SerialName("file")
    data class File(
        val mediaType: String? = null,
        val name: String? = null,
        /** [Recap.fileUrl] has its address. */
        val uploadId: String? = null,
        val url: String? = null,
        /** Base64. */
        val data: String? = null,
        /** The file on this device. */
        val path: String? = null,
        /** 0 to 1 while it is uploaded. */
        val progress: Double? = null,
    ) : Part

    @Serializable
    @SerialName("tool")
    data class Tool(
        val callId: String,
        val name: String,
        val input: JsonElement,
        val state: ToolState,
        /** Whether the service runs it. */
        val byService: Boolean,
        val output: JsonElement? = null,
        val error: String? = null,
    ) : Part

    @Serializable
    @SerialName("source")
    data class Source(val url: String, val title: String? = null) : Part

    @Serializable
    @SerialName("notice")
    data class Notice(val kind: String, val details: JsonObject) : Part
}

@Serializable
enum class ToolState {
    @SerialName("running") RUNNING,
    /** Waits for [Chat.approve]. */
    @SerialName("approval") APPROVAL,
    @SerialName("done") DONE,
    @SerialName("failed") FAILED,
}

@Serializable
enum class Role {
    @SerialName("user") USER,
    @SerialName("model") MODEL,
}

/** clients/README.md says what each means. */
@Serializable
enum class MessageState {
    @SerialName("pending") PENDING,
    @SerialName("sent") SENT,
    @SerialName("queued") QUEUED,
    @SerialName("running") RUNNING,
    @SerialName("waiting") WAITING,
    @SerialName("done") DONE,
    @SerialName("stopped") STOPPED,
    @SerialName("failed") FAILED,
}

@Serializable
enum class Rating {
    @SerialName("up") UP,
    @SerialName("down") DOWN,
}

@Serializable
data class MessageError(
    /** UPPER_SNAKE: docs/reference/errors.md; `OFFLINE` without a connection. */
    val reason: String,
    /** To be shown. */
    val message: String,
    /** Whether the same message may be tried again. */
    val isRetryable: Boolean,
    /** Of a limit of the day: when it is over. */
    val resetTime: String? = null,
)

/** Why the model does not know of a message. */
@Serializable
data class OutOfContext(val reason: String, val replacedBy: String? = null)

/** One message of the user or of the model. */
@Serializable
data class Message(
    /** Of a user's message the id that this device gave it, `m_17` of an answer. */
    val id: String,
    val role: Role,
    val state: MessageState,
    val parts: List<Part>,
    /** ISO 8601. */
    val time: String,
    /** Its turn; null until the service has told it. */
    val seq: Int? = null,
    val error: MessageError? = null,
    val finishReason: String? = null,
    val outOfContext: OutOfContext? = null,
    val isDeleted: Boolean = false,
    val rating: Rating? = null,
) {
    /** Its text parts as one. */
    val text: String = textOf(parts)
}

internal fun textOf(parts: List<Part>): String =
    parts.filterIsInstance<Part.Text>().joinToString("\n\n") { it.text }

/** How full the context is. */
@Serializable
data class ContextState(
    val tokens: Long = 0,
    val thresholdTokens: Long? = null,
    val windowTokens: Long = 0,
    val percent: Double = 0.0,
    val source: String = "",
    val generation: Int = 0,
    val compaction: Compaction? = null,
    val leftOut: LeftOut? = null,
) {
    @Serializable
    data class Compaction(
        val state: String,
        val jobId: String? = null,
        val beforeTokens: Long? = null,
        val afterTokens: Long? = null,
        /** To be shown. */
        val message: String? = null,
    )

    /** What the model does not see; `message` is to be shown. */
    @Serializable
    data class LeftOut(val turns: Int, val from: Int, val upTo: Int, val remedy: String, val message: String)
}

/** A conversation as it is shown: never changed, but followed by a new one. */
@Serializable
data class ChatState(
    /** Of the current branch, the oldest first. */
    val messages: List<Message> = emptyList(),
    /** All, those too that were replaced. */
    val transcript: List<Message> = emptyList(),
    val title: String? = null,
    val context: ContextState? = null,
    val hasOlder: Boolean = false,
    /** Behind the last one, after [Chat.loadAround]. */
    val hasNewer: Boolean = false,
    /** Whether it was read since it is shown. */
    val isLoaded: Boolean = false,
    /** Whether an answer is on its way. */
    val isAnswering: Boolean = false,
    /** Why it cannot be read. */
    @Transient val problem: RecapException? = null,
)

/** A row of the list. */
@Serializable
data class Row(
    val id: String,
    val title: String? = null,
    val metadata: Map<String, String> = emptyMap(),
    val archived: Boolean = false,
    val pinned: Boolean = false,
    /** `idle`, `running`, `waiting` or `failed`. */
    val state: String = "idle",
    val lastMessage: LastMessage? = null,
    val unreadCount: Int = 0,
    /** Messages that are not sent yet. */
    val pendingCount: Int = 0,
    val activeTime: String,
    val deleteTime: String? = null,
    val purgeTime: String? = null,
    val lastSeq: Int = 0,
    val readSeq: Int = 0,
    val createTime: String? = null,
) {
    @Serializable
    data class LastMessage(
        val seq: Int,
        val role: Role,
        val time: String,
        val preview: String? = null,
        val deleted: Boolean = false,
    )
}

enum class ListName { ACTIVE, ARCHIVED, DELETED }

/** Rows of one list: the pinned ones, then the newest. */
@Serializable
data class ListState(
    val rows: List<Row> = emptyList(),
    val hasMore: Boolean = false,
    val isLoaded: Boolean = false,
    @Transient val problem: RecapException? = null,
)

@Serializable
data class SearchResult(
    val hits: List<Hit> = emptyList(),
    val titles: List<Title> = emptyList(),
    val searched: Int = 0,
    val nextPageToken: String? = null,
) {
    @Serializable
    data class Hit(
        val conversationId: String,
        val seq: Int,
        val role: Role,
        val messageId: String,
        val at: String,
        val snippet: String,
        val score: Double,
        val title: String? = null,
        val replaced: Boolean = false,
    )

    @Serializable
    data class Title(val conversationId: String, val title: String)
}
