//! Everything pages say, in both languages: one table.
//!
//! A message is written with both its sentences or not at all, so a language cannot lack one. Places
//! for values are `{0}`, `{1}`, because their order differs.

use crate::view::Language;

macro_rules! messages {
    ($($name:ident = $english:literal, $korean:literal;)+) => {
        /// Something a page says.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Say {
            $($name,)+
        }

        impl Say {
            /// All of them.
            #[cfg(test)]
            pub(crate) const ALL: &[Say] = &[$(Say::$name,)+];

            /// The sentence in a language.
            pub(crate) fn in_language(self, language: Language) -> &'static str {
                let (english, korean) = match self {
                    $(Say::$name => ($english, $korean),)+
                };
                match language {
                    Language::English => english,
                    Language::Korean => korean,
                }
            }
        }
    };
}

messages! {
    SkipToContent = "Skip to content", "본문으로";
    Navigation = "Pages", "쪽";
    Choices = "Language, light and dark", "언어, 밝기";
    Auto = "Auto", "자동";
    Light = "Light", "밝게";
    Dark = "Dark", "어둡게";
    SignIn = "Sign in", "로그인";
    SignOut = "Sign out", "로그아웃";
    SignInLead = "Paste a token that `wonbon token create` printed. It is kept in this browser for a day.", "`wonbon token create`가 출력한 토큰을 붙여 넣으세요. 이 브라우저에 하루 동안 보관됩니다.";
    NoTokensNeeded = "This service listens on this machine only and needs no token.", "이 서비스는 이 컴퓨터에서 온 연결만 받으므로 토큰이 필요 없습니다.";
    Token = "Token", "토큰";
    More = "More", "더 보기";
    Search = "Search", "검색";
    Ask = "Ask", "묻기";
    Compare = "Compare", "비교";
    Moved = "Where is it now", "지금 어디에";
    Copies = "Who holds copies", "누가 가졌나";
    Changes = "Changes", "변화";
    Watch = "Watch", "지켜보기";
    PagesOverTime = "Pages over time", "시간에 따른 쪽";
    CopyToClipboard = "Copy", "복사";
    RequestExample = "Request", "요청";
    ResponseExample = "Response", "응답";
    OtherSites = "other sites", "다른 사이트";
    Families = "Families", "가족";
    Status = "Status", "상태";
    Docs = "API", "API";
    DocsLead = "What programs can ask of this service. Every page has the same answer as JSON: add .json to its address, or ask with Accept: application/json.", "프로그램이 이 서비스에 물을 수 있는 것들입니다. 모든 쪽에는 같은 답의 JSON이 있습니다. 주소에 .json을 붙이거나 Accept: application/json으로 물으세요.";
    Problems = "Problems", "문제";
    ProblemsLead = "Sent as application/problem+json; the code never changes its meaning.", "application/problem+json으로 보냅니다. 코드의 뜻은 바뀌지 않습니다.";
    Code = "Code", "코드";
    HttpStatus = "Status", "상태 번호";
    Meaning = "Meaning", "뜻";
    Parameter = "Parameter", "매개변수";
    StandsIn = "Stands in", "자리";
    Body = "Body", "본문";
    HomeTitle = "The original and its copies", "원본과 사본";
    HomeLead = "At the moment a document is stored, it is decided whether it copies an earlier one. Everything is kept; only originals are searched.", "문서가 저장되는 순간 앞선 문서의 사본인지 판정합니다. 모두 보관하고, 검색에는 원본만 나옵니다.";
    BoxLabel = "A URL, a text, or words to search for", "URL, 글, 또는 찾을 낱말";
    BoxPlaceholder = "https://…, a whole text, or a few words", "https://…, 글 전체, 또는 낱말 몇 개";
    BoxButton = "Find", "찾기";
    Documents = "documents", "문서";
    Originals = "originals", "원본";
    CopiesCount = "copies", "사본";
    OldVersions = "old versions", "옛 판";
    WithoutWordsCount = "without words", "낱말 없음";
    SweepsCount = "sweeps", "순회";
    WatchedCount = "watched", "지켜봄";
    Latest = "What came in lately", "최근에 들어온 문서";
    NothingYet = "Nothing is stored yet. `wonbon add` or POST /v1/documents stores documents.", "아직 저장된 문서가 없습니다. `wonbon add`나 POST /v1/documents로 저장하세요.";
    OfOriginal = "of {0}", "{0}의 사본";
    Kind = "Is", "판정";
    Document = "Document", "문서";
    Created = "Created", "만든 때";
    Published = "Published, as it claims", "스스로 밝힌 게시일";
    StoredAt = "Stored", "저장한 때";
    Words = "Words", "낱말";
    Site = "Site", "사이트";
    Sites = "Sites", "사이트";
    Author = "Author", "글쓴이";
    Key = "Key", "키";
    Address = "Address", "주소";
    LanguageField = "Language", "언어";
    Resemblance = "Resemblance", "유사도";
    Original = "Original", "원본";
    KindOriginal = "original", "원본";
    KindCopy = "copy", "사본";
    KindIdentical = "identical", "똑같음";
    KindSameText = "same text", "같은 글";
    KindSameShingles = "same shingles", "같은 조각";
    KindEmpty = "no words", "낱말 없음";
    WordsToFind = "Words", "찾을 낱말";
    CreatedFrom = "Created from", "이때부터";
    CreatedBefore = "Created before", "이때 전";
    SearchHelp = "All words must occur. \"Several words\" as they stand; -word must not occur; a OR b; title:word.", "모든 낱말이 나와야 합니다. \"여러 낱말\"은 그대로, -낱말은 없어야 하며, a OR b, title:낱말을 쓸 수 있습니다.";
    NothingFoundHelp = "All words have to occur in an original: try fewer. To find who quotes a passage, ask about the passage instead.", "모든 낱말이 한 원본에 나와야 합니다. 낱말을 줄여 보세요. 어느 글이 인용했는지 찾으려면 그 대목으로 물어 보세요.";
    NothingFound = "Nothing found", "찾은 것이 없습니다";
    ResultCount = "{0} to {1} of {2} originals", "원본 {2}개 가운데 {0}–{1}";
    PlusCopy = "+1 copy", "+사본 1개";
    PlusCopies = "+{0} copies", "+사본 {0}개";
    WholeFamily = "The whole family", "가족 전체";
    Facts = "Facts", "알려진 것";
    Versions = "Versions", "판";
    VersionNumber = "Version", "판";
    Seen = "Seen", "본 때";
    ToTheOneBefore = "Resemblance to the version before", "앞 판과의 유사도";
    Family = "Family", "가족";
    FamilyOf = "Documents in this family: {0}", "이 가족의 문서: {0}개";
    Text = "Text", "글";
    WholeText = "The whole text", "글 전체";
    PlainText = "Plain text", "글만";
    HasCopy = "with 1 copy", "사본 1개가 있음";
    HasCopies = "with {0} copies", "사본 {0}개가 있음";
    NoEarlierLikeIt = "nothing earlier is like it", "앞선 것 가운데 닮은 것이 없음";
    WithoutWords = "nobody's copy and nobody's original", "누구의 사본도 원본도 아님";
    FeaturesAgree = "{0} features agree", "특징 {0}개 일치";
    FeaturesOf = "{0} of {1} features agree", "특징 {1}개 가운데 {0}개 일치";
    ByTheRule = "by the rule {0}", "규칙 {0}";
    CompareWithOriginal = "Compare with the original", "원본과 비교";
    TimeLine = "Over time", "시간 순서";
    TimeLineTold = "{0} documents from {1} to {2}", "{1}부터 {2}까지 문서 {0}개";
    CompareLead = "Two stored documents, word by word.", "저장된 두 문서를 낱말까지 견줍니다.";
    FirstDocument = "A: key or address", "A: 키나 주소";
    SecondDocument = "B: key or address", "B: 키나 주소";
    AInsideB = "A inside B", "B 안의 A";
    BInsideA = "B inside A", "A 안의 B";
    CompareKeys = "n and p go to the next and the previous difference.", "n과 p로 다음과 이전의 다른 곳으로 갑니다.";
    RelationSameText = "The same text", "같은 글";
    RelationSameShingles = "The same shingles", "같은 조각";
    RelationCopy = "A copy", "사본";
    RelationPartly = "Partly contained", "일부가 들어 있음";
    RelationDifferent = "Different", "다른 글";
    AskLead = "What resembles a text, what contains it, what it contains, and which documents together explain it. Nothing is stored.", "글과 닮은 것, 글을 담은 것, 글에 담긴 것, 그리고 글을 함께 설명하는 문서들을 찾습니다. 아무것도 저장하지 않습니다.";
    AskedAbout = "About", "대상:";
    TextToAsk = "The text", "글";
    AskButton = "Ask", "묻기";
    Sources = "Where it comes from", "어디에서 왔나";
    Explained = "{0} of {1} words are explained by stored documents ({2} %).", "낱말 {1}개 가운데 {0}개가 저장된 문서로 설명됩니다({2} %).";
    StoredPassages = "Passages that are stored", "저장된 대목";
    StoredPassagesLead = "{0} of {1} words stand in runs that stored documents have too.", "낱말 {1}개 가운데 {0}개가 저장된 문서에도 있는 대목에 들어 있습니다.";
    PassageWords = "{0} words, in {1} places", "낱말 {0}개, {1}곳";
    ExplainsWords = "explains {0} words", "낱말 {0}개를 설명";
    Similar = "What resembles it", "닮은 것";
    SimilarLead = "By exact resemblance.", "정확한 유사도 순서입니다.";
    Within = "What contains it", "이 글을 담은 것";
    WithinLead = "By the part of the text that the document has.", "문서가 이 글의 얼마를 담았는지 순서입니다.";
    Contains = "What it contains", "이 글에 담긴 것";
    ContainsLead = "By the part of the document that the text has.", "이 글이 문서의 얼마를 담았는지 순서입니다.";
    HasOfText = "Has of the text", "글을 담은 비율";
    IsInText = "Is in the text", "글에 담긴 비율";
    NotAllLookedAt = "{0} of {1} candidates were looked at.", "후보 {1}개 가운데 {0}개를 확인했습니다.";
    KeyOrAddress = "Key or address", "키나 주소";
    MovedLead = "For an address that is gone: the newest place that holds the same document, with the evidence.", "사라진 주소에 대해, 같은 문서를 가진 가장 새로운 곳과 그 근거를 찾습니다.";
    MovedHere = "It is where it was", "있던 곳에 그대로 있습니다";
    MovedMoved = "It moved", "옮겨졌습니다";
    MovedMerged = "It is inside a larger page", "더 큰 쪽 안에 있습니다";
    MovedSplit = "It is there in parts", "나뉘어 있습니다";
    MovedGone = "Nothing holds it any more", "이제 가진 곳이 없습니다";
    MovedGoneThese = "Nothing holds it any more; these did", "이제 가진 곳이 없고, 전에는 여기에 있었습니다";
    MissedSince = "missed since {0}", "{0}부터 보이지 않음";
    LeadsTo = "{0} leads to {1} (seen {2})", "{0} → {1} ({2}에 봄)";
    AlsoAt = "Also at", "다른 곳";
    Holds = "Holds of it", "담은 비율";
    RedirectSeen = "Redirect seen", "넘김을 본 때";
    CopiesLead = "Who holds a document, by site: whom to tell when it changes.", "문서를 누가 가졌는지 사이트별로 봅니다. 바뀌면 알려야 할 곳들입니다.";
    HoldersOnSites = "Holders: {0}, on sites: {1}", "가진 곳 {0}개, 사이트 {1}곳";
    PlacesShown = "{0} of {1} places are shown; ?limit= shows more.", "{1}곳 가운데 {0}곳을 보여 줍니다. ?limit=로 더 볼 수 있습니다.";
    MorePlaces = "More places may hold it than were looked at.", "살펴본 것보다 더 많은 곳에 있을 수 있습니다.";
    NoSite = "no site", "사이트 없음";
    FollowsVersion = "Follows version", "따르는 판";
    Since = "Since", "이때부터";
    ChangesLead = "What sweeps of a crawl saw: births, deaths, moves, how often pages change, how much, and how long they live. With an address: its versions.", "수집의 순회가 본 것입니다. 생기고 사라지고 옮겨진 쪽, 얼마나 자주 얼마나 많이 바뀌는지, 얼마나 오래 사는지. 주소를 넣으면 그 판들을 봅니다.";
    NoSweeps = "No sweep was added. `wonbon add --sweep DATE` or `?sweep=DATE` adds one.", "더해진 순회가 없습니다. `wonbon add --sweep 날짜`나 `?sweep=날짜`로 더합니다.";
    PagesCount = "pages", "쪽";
    UnchangedWord = "unchanged", "그대로";
    WatchLead = "Reference documents, and stored copies that differ from them by a little.", "기준 문서들과, 그와 조금씩 다른 저장된 사본들입니다.";
    WatchThis = "Watch", "지켜보기";
    WatchNoMore = "Watch no more", "그만 지켜보기";
    NothingWatched = "No document is watched. Write a document's key or address above; copies that differ from it by a little are then listed here.", "지켜보는 문서가 없습니다. 위에 문서의 키나 주소를 쓰면, 그 문서와 조금 다른 사본이 여기에 나옵니다.";
    WatchCounts = "{0} faithful, {1} of an earlier version, {2} that differ", "똑같은 사본 {0}개, 옛 판의 사본 {1}개, 다른 사본 {2}개";
    FollowsOld = "{0} follows version {1} of {2}", "{0}: {2}개의 판 가운데 {1}번째를 따름";
    FamiliesLead = "{0} originals have copies.", "사본이 있는 원본이 {0}개입니다.";
    NoCopiesYet = "No document has copies yet. An original and its copies appear here as soon as a copy is stored.", "아직 사본이 있는 문서가 없습니다. 사본이 저장되면 원본과 함께 여기에 나옵니다.";
    FamilySizes = "How large", "크기";
    FamiliesByCopies = "Families by how many copies they have", "사본 수별 가족 수";
    Largest = "The largest", "가장 큰 가족";
    LastCopy = "Last copy", "마지막 사본";
    Matrix = "How much they resemble each other", "서로의 유사도";
    MatrixLead = "Exact resemblance of each pair of the first documents.", "처음 문서들의 짝마다 정확한 유사도입니다.";
    DecidesBy = "Decides by {0}, shingles of {1} words, seed {2}.", "규칙 {0}, 낱말 {1}개의 조각, 씨앗 {2}로 판정합니다.";
    Takes = "What it takes", "차지하는 것";
    Part = "Part", "부분";
    Size = "Size", "크기";
    BytesEach = "Bytes a document", "문서마다 바이트";
    PartDatabase = "Database", "데이터베이스";
    PartSnapshot = "Index snapshot", "색인 스냅샷";
    PartSearch = "Search index", "검색 색인";
    PartShingles = "Shingle index", "조각 색인";
    PartMemory = "Index in memory", "메모리의 색인";
    Service = "The service", "서비스";
    UpToDate = "up to date", "최신";
    ChangesBehind = "{0} changes behind", "변화 {0}개 뒤처짐";
    OpenedIn = "Opened in", "여는 데 걸린 시간";
    Queue = "Documents that wait for the writer", "쓰기를 기다리는 문서";
    VersionOfProgram = "Version", "버전";
    Decision = "Decision", "결정";
    Decisions = "Decisions", "결정 기록";
    DecisionsLead = "Who decided what of which document, when and why, and what was taken back. Entries are only ever added.", "누가 언제 어떤 문서를 왜 그렇게 정했는지, 무엇을 되돌렸는지의 기록입니다. 기록은 더해질 뿐 바뀌지 않습니다.";
    AllDecisions = "All decisions", "모든 결정";
    DecisionsOfThis = "All decisions about this document", "이 문서의 모든 결정";
    NoDecisionsYet = "Nothing was decided yet.", "아직 결정한 것이 없습니다.";
    NothingDecided = "Nobody decided anything about this document: the rule says what it is.", "이 문서에 대해 사람이 정한 것이 없습니다. 규칙대로 판정합니다.";
    DecisionOriginal = "the original", "원본";
    DecisionNotACopy = "not a copy", "사본 아님";
    MakeThisTheOriginal = "Make this the original", "이것을 원본으로";
    ThisIsNotACopy = "Not a copy", "사본이 아님";
    TakeBack = "Undo", "되돌리기";
    ReasonIfAny = "Reason, if any", "까닭(없어도 됨)";
    Reason = "Reason", "까닭";
    DecidedBy = "decided by {0}, {1}", "{0}, {1}에 정함";
    WasMadeTheOriginal = "Made the original", "원본으로 정함";
    WasDecidedNotACopy = "Decided to be no copy", "사본이 아니라고 정함";
    WasTakenBack = "Entry {0} taken back", "{0}번 기록을 되돌림";
    EndedWithItsDocument = "Ended: the document was removed", "문서가 지워져 끝남";
    RecordedAs = "recorded as entry {0}", "{0}번으로 기록됨";
    EntryNumber = "Entry", "번호";
    When = "When", "때";
    Who = "Who", "누가";
    WhatHappened = "What", "무엇을";
    Before = "Before", "앞";
    After = "After", "뒤";
    ByDecision = "by decision", "사람의 결정으로";
    Jobs = "Jobs", "작업";
    Crawl = "Crawl", "수집";
    NoJobsHere = "This service was started without a place for jobs. Start it with `wonbon serve --jobs DIR` to import files, deduplicate or cluster a corpus, and crawl.", "작업할 곳 없이 시작된 서비스입니다. 파일을 들여오거나, 모음에서 사본을 없애거나 묶거나, 웹을 수집하려면 `wonbon serve --jobs DIR`로 시작하세요.";
    JobsLead = "Work that takes longer than a request. A job that runs when the service ends goes on when it is started again.", "요청 하나보다 오래 걸리는 일입니다. 서비스가 끝날 때 하던 작업은 다시 시작하면 이어집니다.";
    NoJobsYet = "There is no job yet. Put files into the folder `in` of the directory of jobs and start an import, or start a crawl.", "아직 작업이 없습니다. 작업 폴더의 `in`에 파일을 넣고 들여오기를 시작하거나, 수집을 시작하세요.";
    JobImport = "import", "들여오기";
    JobDedup = "deduplicate", "사본 없애기";
    JobCluster = "cluster", "묶기";
    JobCrawl = "crawl", "수집";
    JobWaiting = "waiting", "기다림";
    JobRunning = "running", "하는 중";
    JobPausing = "pausing", "멈추는 중";
    JobCancelling = "cancelling", "그만두는 중";
    JobPaused = "paused", "멈춤";
    JobDone = "done", "마침";
    JobCancelled = "cancelled", "그만둠";
    JobFailed = "failed", "실패";
    JobNumber = "Job", "작업";
    JobKind = "Kind", "종류";
    JobState = "State", "상태";
    JobAbout = "About", "대상";
    JobProgress = "Done", "진행";
    JobTitle = "Job {0}: {1}", "작업 {0}: {1}";
    AskedFor = "Asked for", "시킨 때";
    BeganAt = "Began", "시작한 때";
    EndedAt = "Ended", "끝난 때";
    StartedBy = "Asked by", "시킨 이";
    WentOn = "Went on after a stop", "멈췄다 이어 간 횟수";
    FilesIn = "Files, below the jobs' directory", "파일(작업 폴더 아래)";
    WasAsked = "What was asked", "시킨 내용";
    Notes = "Notes", "알림";
    CameOf = "What came of it", "결과";
    DurableSoFar = "{0} documents in {1} pieces of the input are stored for good.", "입력 {1}조각의 문서 {0}개가 확실히 저장되었습니다.";
    DoneOf = "{0} of {1}", "{1} 가운데 {0}";
    PhaseRead = "reading", "읽는 중";
    PhaseCompare = "comparing", "견주는 중";
    PhaseWrite = "writing", "쓰는 중";
    PauseJob = "Pause", "멈추기";
    ResumeJob = "Resume", "이어 하기";
    CancelJob = "Cancel", "그만두기";
    ShowCrawl = "Show the crawl", "수집 보기";
    StartJob = "Start a job", "작업 시키기";
    JobInputs = "Files or folders in the folder of inputs, one a line", "입력 폴더 안의 파일이나 폴더, 한 줄에 하나";
    JobThreshold = "Threshold, for deduplicating and clustering", "기준값(사본 없애기와 묶기)";
    JobSweep = "Date of the sweep, for importing", "순회 날짜(들여오기)";
    NoInputs = "The folder of inputs is empty.", "입력 폴더가 비어 있습니다.";
    InputsAre = "In the folder of inputs: {0}", "입력 폴더에 있는 것: {0}";
    UpdatedCount = "updated", "고쳐짐";
    RedirectsCount = "redirects", "넘김";
    RefusedCount = "refused", "받지 않음";
    RowsCount = "rows", "줄";
    SkippedCount = "skipped", "건너뜀";
    SkippedFirst = "What was skipped (the first 20)", "건너뛴 것(처음 20개까지)";
    FamiliesCount = "families", "가족";
    ComparedCount = "pairs compared", "견준 짝";
    DuplicatesCount = "equal to another", "다른 것과 같음";
    PairsCount = "pairs", "짝";
    CrawlLead = "Pages from the web into the store, the ones that matter first, politely: robots.txt is heeded, and a host is asked slowly. Only public addresses are asked.", "웹의 쪽들을 중요한 것부터 예의 바르게 저장소로 가져옵니다. robots.txt를 지키고, 한 호스트에는 천천히 묻습니다. 공개된 주소에만 묻습니다.";
    CrawlTitle = "Crawl {0}: {1}", "수집 {0}: {1}";
    Crawls = "Crawls", "수집들";
    StartCrawl = "Start a crawl", "수집 시작";
    Seeds = "Pages to start with, one a line", "시작할 쪽, 한 줄에 하나";
    Ordering = "Ordering: which known page comes next", "순서: 다음에 가져올 쪽";
    CrawlScope = "Where it goes", "어디까지";
    ScopeDomain = "the domains of the seeds", "시작 쪽의 도메인";
    ScopeHost = "the hosts of the seeds", "시작 쪽의 호스트";
    ScopeAll = "everywhere", "어디든";
    MostPages = "Pages at most", "쪽 수 한도";
    DelaySeconds = "Seconds between requests to a host", "호스트마다 요청 사이의 초";
    MostDepth = "Links away from a seed at most", "시작 쪽에서 링크 수 한도";
    MostSitePages = "Pages of a site at most", "사이트마다 쪽 수 한도";
    OnlyPaths = "Only paths that begin like this", "이렇게 시작하는 경로만";
    NoPaths = "No paths that begin like this", "이렇게 시작하는 경로는 빼고";
    Agent = "Who asks: a name and a contact", "누가 묻나: 이름과 연락처";
    SweepOf = "Number of an earlier crawl to repeat", "되풀이할 앞선 수집의 번호";
    OfKnown = "of {0} known", "알려진 {0}개 가운데";
    SitesCount = "sites", "사이트";
    HostsKnown = "hosts known: {0}", "알려진 호스트 {0}개";
    OfLinks = "of all links lead there", "전체 링크 가운데";
    OfPageRank = "of the PageRank", "PageRank 가운데";
    LinksFound = "{0} links", "링크 {0}개";
    OfBodies = "of bodies", "본문 크기";
    OriginalsFound = "{0} originals", "원본 {0}개";
    ErrorsCount = "errors", "오류";
    TrapsFound = "{0} traps", "덫 {0}개";
    PagesWaiting = "pages wait", "기다리는 쪽";
    UnderWay = "{0} under way", "가져오는 중 {0}개";
    PageRankShare = "Share of the PageRank", "PageRank의 비율";
    LinkShare = "Share of the links", "링크의 비율";
    SitesOver = "Sites", "사이트 수";
    Host = "Host", "호스트";
    HostsNow = "Hosts", "호스트";
    AnswersCount = "answers", "답";
    FailuresCount = "failures", "실패";
    Outcome = "Outcome", "결과";
    Outcomes = "Outcomes", "결과별";
    Why = "Why", "까닭";
    FailuresLately = "Failures lately", "최근 실패";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn places(sentence: &str) -> BTreeSet<&str> {
        sentence
            .match_indices('{')
            .map(|(at, _)| sentence[at..].split_inclusive('}').next().unwrap_or_default())
            .collect()
    }

    #[test]
    fn both_languages_say_everything_with_the_same_values() {
        for message in Say::ALL {
            let english = message.in_language(Language::English);
            let korean = message.in_language(Language::Korean);
            assert!(!english.trim().is_empty() && !korean.trim().is_empty(), "{message:?}");
            assert_eq!(places(english), places(korean), "{message:?}");
            let has_hangul = korean.chars().any(|c| ('가'..='힣').contains(&c));
            assert!(has_hangul || matches!(message, Say::Docs | Say::LeadsTo), "{message:?}");
            assert!(!english.chars().any(|c| ('가'..='힣').contains(&c)), "{message:?}");
        }
    }
}
