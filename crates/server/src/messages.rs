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
    Navigation = "Pages", "페이지";
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
    Copies = "Who holds copies", "누가 가지고 있나";
    Changes = "Changes", "변화";
    Watch = "Watch", "지켜보기";
    PagesOverTime = "Pages over time", "페이지의 변화";
    CopyToClipboard = "Copy", "복사";
    RequestExample = "Request", "요청";
    ResponseExample = "Response", "응답";
    OtherSites = "other sites", "다른 사이트";
    Families = "Families", "사본 묶음";
    Status = "Status", "상태";
    Docs = "API", "API";
    DocsLead = "The requests that programs can make to this service. Every page has the same answer as JSON: add .json to its address, or ask with Accept: application/json.", "프로그램이 이 서비스에 보낼 수 있는 요청입니다. 모든 페이지는 같은 내용을 JSON으로도 제공합니다. 주소에 .json을 붙이거나 Accept: application/json 헤더를 보내세요.";
    Problems = "Problems", "문제";
    ProblemsLead = "Sent as application/problem+json; the code never changes its meaning.", "application/problem+json으로 보냅니다. 코드의 뜻은 바뀌지 않습니다.";
    Code = "Code", "코드";
    HttpStatus = "Status", "상태 코드";
    Meaning = "Meaning", "뜻";
    Parameter = "Parameter", "매개변수";
    StandsIn = "In", "위치";
    Body = "Body", "본문";
    HomeTitle = "The original and its copies", "원본과 사본";
    HomeLead = "Wonbon decides the moment a document is stored whether it copies an earlier one. All documents are kept; search finds originals only.", "문서가 저장되는 순간 앞선 문서의 사본인지 판정합니다. 모두 보관하고, 검색에는 원본만 나옵니다.";
    BoxLabel = "A URL, a text, or words to search for", "URL, 글, 또는 찾을 낱말";
    BoxPlaceholder = "https://…, a whole text, or a few words", "https://…, 글 전체, 또는 낱말 몇 개";
    BoxButton = "Find", "찾기";
    Documents = "documents", "문서";
    Originals = "originals", "원본";
    CopiesCount = "copies", "사본";
    OldVersions = "old versions", "이전 버전";
    WithoutWordsCount = "without words", "낱말 없음";
    SweepsCount = "sweeps", "순회";
    WatchedCount = "watched", "지켜봄";
    Latest = "Recently stored", "최근에 들어온 문서";
    NothingYet = "Nothing is stored yet. `wonbon add` or POST /v1/documents stores documents.", "아직 저장된 문서가 없습니다. `wonbon add`나 POST /v1/documents로 저장하세요.";
    OfOriginal = "of {0}", "{0}의 사본";
    Kind = "Verdict", "판정";
    Document = "Document", "문서";
    Created = "Created", "작성일";
    Published = "Published, according to the page", "페이지에 적힌 게시일";
    StoredAt = "Stored", "저장일";
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
    KindIdentical = "identical", "동일";
    KindSameText = "same text", "같은 글";
    KindSameShingles = "same shingles", "같은 조각";
    KindEmpty = "no words", "낱말 없음";
    WordsToFind = "Words", "찾을 낱말";
    CreatedFrom = "Created from", "작성일(부터)";
    CreatedBefore = "Created before", "작성일(이전)";
    SearchHelp = "All words must occur. \"several words\" finds a phrase, -word excludes a word, a OR b finds either, title:word searches titles.", "모든 낱말이 들어 있는 문서를 찾습니다. \"여러 낱말\"은 그대로 이어진 구절을, -낱말은 그 낱말이 없는 문서를, a OR b는 둘 중 하나를, title:낱말은 제목을 찾습니다.";
    NothingFoundHelp = "An original has to contain all of the words: try fewer. To find who quotes a passage, ask about the passage instead.", "모든 낱말이 한 원본에 나와야 합니다. 낱말을 줄여 보세요. 어느 글이 인용했는지 찾으려면 그 대목으로 물어 보세요.";
    NothingFound = "Nothing found", "찾은 문서가 없습니다";
    ResultCount = "{0} to {1} of {2} originals", "원본 {2}개 가운데 {0}–{1}";
    PlusCopy = "+1 copy", "+사본 1개";
    PlusCopies = "+{0} copies", "+사본 {0}개";
    WholeFamily = "The whole family", "묶음 전체";
    Facts = "Details", "정보";
    Versions = "Versions", "버전";
    VersionNumber = "Version", "버전";
    Seen = "Seen", "확인한 때";
    ToTheOneBefore = "Resemblance to the previous version", "이전 버전과의 유사도";
    Family = "Family", "사본 묶음";
    FamilyOf = "Documents in this family: {0}", "이 묶음의 문서: {0}개";
    Text = "Text", "글";
    WholeText = "The whole text", "글 전체";
    PlainText = "Plain text", "텍스트만";
    HasCopy = "with 1 copy", "사본 1개가 있음";
    HasCopies = "with {0} copies", "사본 {0}개가 있음";
    NoEarlierLikeIt = "no earlier document resembles it", "닮은 앞선 문서가 없음";
    WithoutWords = "neither a copy nor an original", "사본도 원본도 아님";
    FeaturesAgree = "{0} features agree", "특징 {0}개 일치";
    FeaturesOf = "{0} of {1} features agree", "특징 {1}개 가운데 {0}개 일치";
    ByTheRule = "by the rule {0}", "규칙 {0}";
    CompareWithOriginal = "Compare with the original", "원본과 비교";
    TimeLine = "Over time", "시간 순서";
    TimeLineTold = "{0} documents from {1} to {2}", "{1}부터 {2}까지 문서 {0}개";
    CompareLead = "Two stored documents, word by word.", "저장된 두 문서를 낱말 단위로 비교합니다.";
    FirstDocument = "A: key or address", "A: 키 또는 주소";
    SecondDocument = "B: key or address", "B: 키 또는 주소";
    AInsideB = "A inside B", "B 안의 A";
    BInsideA = "B inside A", "A 안의 B";
    CompareKeys = "Press n and p for the next and the previous difference.", "n은 다음, p는 이전의 다른 곳으로 이동합니다.";
    RelationSameText = "The same text", "같은 글";
    RelationSameShingles = "The same shingles", "같은 조각";
    RelationCopy = "A copy", "사본";
    RelationPartly = "Partly contained", "일부가 들어 있음";
    RelationDifferent = "Different", "다른 글";
    AskLead = "Which documents resemble a text, which contain it, which it contains, and which together explain it. Nothing is stored.", "이 글과 닮은 문서, 이 글을 담은 문서, 이 글에 담긴 문서, 그리고 함께 이 글을 이루는 문서를 찾습니다. 아무것도 저장하지 않습니다.";
    AskedAbout = "About", "대상:";
    TextToAsk = "The text", "글";
    AskButton = "Ask", "묻기";
    Sources = "Sources", "출처";
    Explained = "{0} of {1} words are explained by stored documents ({2} %).", "낱말 {1}개 가운데 {0}개가 저장된 문서로 설명됩니다({2} %).";
    StoredPassages = "Passages found in stored documents", "저장된 문서에 있는 대목";
    StoredPassagesLead = "{0} of {1} words belong to passages that stored documents have too.", "낱말 {1}개 가운데 {0}개가 저장된 문서에도 있는 대목에 들어 있습니다.";
    PassageWords = "{0} words · places: {1}", "낱말 {0}개, {1}곳";
    ExplainsWords = "explains {0} words", "낱말 {0}개를 설명";
    Similar = "Similar documents", "닮은 문서";
    SimilarLead = "Ordered by exact resemblance.", "정확한 유사도 순서입니다.";
    Within = "Documents that contain it", "이 글을 담은 문서";
    WithinLead = "Ordered by how much of the text the document has.", "문서가 이 글을 얼마나 담고 있는지에 따라 늘어놓았습니다.";
    Contains = "Documents that it contains", "이 글에 담긴 문서";
    ContainsLead = "Ordered by how much of the document the text has.", "이 글이 문서를 얼마나 담고 있는지에 따라 늘어놓았습니다.";
    HasOfText = "Share of the text", "이 글을 담은 비율";
    IsInText = "Share of the document", "이 글에 담긴 비율";
    NotAllLookedAt = "{0} of {1} candidates were looked at.", "후보 {1}개 가운데 {0}개를 확인했습니다.";
    KeyOrAddress = "Key or address", "키 또는 주소";
    MovedLead = "For an address that is gone: the newest page that holds the same document, with the evidence.", "사라진 주소에 있던 문서를 지금 가지고 있는 가장 새로운 페이지와 그 근거를 보여 줍니다.";
    MovedHere = "It is where it was", "있던 곳에 그대로 있습니다";
    MovedMoved = "It moved", "옮겨졌습니다";
    MovedMerged = "It is inside a larger page", "더 큰 페이지 안에 있습니다";
    MovedSplit = "Other pages hold parts of it", "여러 페이지에 나뉘어 있습니다";
    MovedGone = "No page holds it any more", "이제 가지고 있는 페이지가 없습니다";
    MovedGoneThese = "No page holds it any more; these did", "이제 가지고 있는 페이지가 없습니다. 전에는 다음 페이지에 있었습니다";
    MissedSince = "missed since {0}", "{0}부터 보이지 않음";
    LeadsTo = "{0} leads to {1} (seen {2})", "{0} → {1} ({2}에 확인)";
    AlsoAt = "Also at", "다른 곳";
    Holds = "Share it holds", "담은 비율";
    RedirectSeen = "Redirect seen", "리디렉션을 확인한 때";
    CopiesLead = "Who holds a document, by site: whom to notify when it changes.", "어느 사이트가 이 문서를 가지고 있는지 보여 줍니다. 문서가 바뀌면 알려야 할 곳입니다.";
    HoldersOnSites = "Holders: {0}, on sites: {1}", "가지고 있는 페이지 {0}개, 사이트 {1}곳";
    PlacesShown = "{0} of {1} places are shown; ?limit= shows more.", "{1}곳 가운데 {0}곳을 보여 줍니다. ?limit=로 더 볼 수 있습니다.";
    MorePlaces = "Not all candidates were looked at; more pages may hold it.", "후보를 모두 살펴보지는 않았습니다. 더 많은 곳에 있을 수 있습니다.";
    NoSite = "no site", "사이트 없음";
    FollowsVersion = "Follows version", "따른 버전";
    Since = "Since", "이때부터";
    ChangesLead = "What the sweeps of a crawl saw: pages that appeared, disappeared and moved, how often and how much pages change, and how long they live. With an address: the versions of that page.", "수집의 각 순회에서 새로 생기고, 사라지고, 옮겨진 페이지와 페이지가 얼마나 자주, 얼마나 많이 바뀌고 얼마나 오래 남는지를 보여 줍니다. 주소를 넣으면 그 페이지의 버전을 보여 줍니다.";
    NoSweeps = "No sweep has been added yet. `wonbon add --sweep DATE` or `?sweep=DATE` adds one.", "아직 추가된 순회가 없습니다. `wonbon add --sweep 날짜`나 `?sweep=날짜`로 추가합니다.";
    PagesCount = "pages", "페이지";
    UnchangedWord = "unchanged", "변화 없음";
    WatchLead = "Watched documents, and stored copies that differ slightly from them.", "지켜보는 문서와, 그 문서와 조금 다른 저장된 사본입니다.";
    WatchThis = "Watch", "지켜보기";
    WatchNoMore = "Stop watching", "그만 지켜보기";
    NothingWatched = "No document is watched. Enter the key or address of a document above; copies that differ slightly from it are then listed here.", "지켜보는 문서가 없습니다. 위에 문서의 키나 주소를 입력하면 조금 다른 사본이 여기에 나옵니다.";
    WatchCounts = "{0} faithful, {1} of an earlier version, {2} that differ", "똑같은 사본 {0}개, 이전 버전의 사본 {1}개, 다른 사본 {2}개";
    FollowsOld = "{0} follows version {1} of {2}", "{0}: 버전 {2}개 가운데 {1}번째를 따름";
    FamiliesLead = "{0} originals have copies.", "사본이 있는 원본이 {0}개입니다.";
    NoCopiesYet = "No document has copies yet. An original and its copies appear here as soon as a copy is stored.", "아직 사본이 있는 문서가 없습니다. 사본이 저장되면 원본과 함께 여기에 나옵니다.";
    FamilySizes = "Sizes", "크기";
    FamiliesByCopies = "Families by number of copies", "사본 수별 묶음 수";
    Largest = "Largest families", "가장 큰 묶음";
    LastCopy = "Last copy", "마지막 사본";
    Matrix = "How much they resemble each other", "서로의 유사도";
    MatrixLead = "Exact resemblance of each pair of the first documents.", "처음 문서들의 짝마다 정확한 유사도입니다.";
    DecidesBy = "Rule {0}, shingles of {1} words, seed {2}.", "규칙 {0}, 낱말 {1}개짜리 조각, 시드 {2}로 판정합니다.";
    Takes = "Storage", "저장 공간";
    Part = "Part", "항목";
    Size = "Size", "크기";
    BytesEach = "Bytes per document", "문서당 바이트";
    PartDatabase = "Database", "데이터베이스";
    PartSnapshot = "Index snapshot", "색인 스냅샷";
    PartSearch = "Search index", "검색 색인";
    PartShingles = "Shingle index", "조각 색인";
    PartMemory = "Index in memory", "메모리의 색인";
    Service = "The service", "서비스";
    UpToDate = "up to date", "최신";
    ChangesBehind = "{0} changes behind", "변경 {0}개만큼 뒤처짐";
    OpenedIn = "Opened in", "여는 데 걸린 시간";
    Queue = "Documents waiting to be written", "쓰기를 기다리는 문서";
    VersionOfProgram = "Version", "버전";
    Decision = "Decision", "결정";
    Decisions = "Decisions", "결정 기록";
    DecisionsLead = "Who decided what about which document, when and why, and which decisions were undone. Entries are added and never changed.", "누가 언제 어떤 문서를 왜 그렇게 정했고 무엇을 되돌렸는지의 기록입니다. 기록은 추가될 뿐 바뀌지 않습니다.";
    AllDecisions = "All decisions", "모든 결정";
    DecisionsOfThis = "All decisions about this document", "이 문서의 모든 결정";
    NoDecisionsYet = "No decision has been made yet.", "아직 결정한 것이 없습니다.";
    NothingDecided = "Nobody has decided anything about this document; the rule applies.", "이 문서에 대해 사람이 정한 것이 없습니다. 규칙대로 판정합니다.";
    DecisionOriginal = "the original", "원본";
    DecisionNotACopy = "not a copy", "사본 아님";
    MakeThisTheOriginal = "Make this the original", "이것을 원본으로";
    ThisIsNotACopy = "Not a copy", "사본이 아님";
    TakeBack = "Undo", "되돌리기";
    ReasonIfAny = "Reason (optional)", "이유(선택)";
    Reason = "Reason", "이유";
    DecidedBy = "decided by {0}, {1}", "{0}, {1}에 정함";
    WasMadeTheOriginal = "Declared the original", "원본으로 정함";
    WasDecidedNotACopy = "Declared not a copy", "사본이 아니라고 정함";
    WasTakenBack = "Entry {0} taken back", "{0}번 기록을 되돌림";
    EndedWithItsDocument = "Ended: the document was removed", "문서가 지워져 끝남";
    RecordedAs = "recorded as entry {0}", "{0}번으로 기록됨";
    EntryNumber = "Entry", "번호";
    When = "When", "언제";
    Who = "Who", "누가";
    WhatHappened = "What", "무엇을";
    Before = "Before", "이전";
    After = "After", "이후";
    ByDecision = "by decision", "사람의 결정으로";
    Jobs = "Jobs", "작업";
    Crawl = "Crawl", "수집";
    NoJobsHere = "This service was started without a directory for jobs. Start it with `wonbon serve --jobs DIR` to import files, deduplicate or cluster a corpus, and crawl.", "작업 폴더 없이 시작된 서비스입니다. 파일을 가져오거나, 말뭉치에서 사본을 제거하거나 군집으로 나누거나, 웹을 수집하려면 `wonbon serve --jobs DIR`로 시작하세요.";
    JobsElsewhere = "Another instance of this service runs the jobs; they are started and stopped there.", "작업은 이 서비스의 다른 인스턴스에서 실행합니다. 시작과 중지도 그곳에서 합니다.";
    JobsLead = "Work that takes longer than a request. Jobs that are running when the service stops continue when it starts again.", "요청 하나보다 오래 걸리는 일입니다. 서비스가 멈출 때 실행 중이던 작업은 다시 시작하면 이어집니다.";
    NoJobsYet = "There are no jobs yet. Put files into the folder `in` of the jobs directory and start an import, or start a crawl.", "아직 작업이 없습니다. 작업 폴더의 `in`에 파일을 넣고 가져오기를 시작하거나, 수집을 시작하세요.";
    JobImport = "import", "가져오기";
    JobDedup = "deduplicate", "사본 제거";
    JobCluster = "cluster", "군집 나누기";
    JobCrawl = "crawl", "수집";
    JobWaiting = "waiting", "대기";
    JobRunning = "running", "실행 중";
    JobPausing = "pausing", "일시 정지하는 중";
    JobCancelling = "cancelling", "취소하는 중";
    JobPaused = "paused", "일시 정지됨";
    JobDone = "done", "완료";
    JobCancelled = "cancelled", "취소됨";
    JobFailed = "failed", "실패";
    JobNumber = "Job", "작업";
    JobKind = "Kind", "종류";
    JobState = "State", "상태";
    JobAbout = "About", "대상";
    JobProgress = "Progress", "진행";
    JobTitle = "Job {0}: {1}", "작업 {0}: {1}";
    AskedFor = "Requested", "요청한 때";
    BeganAt = "Began", "시작한 때";
    EndedAt = "Ended", "끝난 때";
    StartedBy = "Requested by", "요청한 사람";
    WentOn = "Resumed after interruptions", "중단 뒤 재개한 횟수";
    FilesIn = "Files in the jobs directory", "작업 폴더의 파일";
    WasAsked = "Request", "요청 내용";
    Notes = "Notes", "알림";
    CameOf = "Result", "결과";
    DurableSoFar = "{0} documents in {1} parts of the input are durable.", "입력 {1}개 부분의 문서 {0}개가 저장을 마쳤습니다.";
    DoneOf = "{0} of {1}", "{1} 가운데 {0}";
    PhaseRead = "reading", "읽는 중";
    PhaseCompare = "comparing", "비교하는 중";
    PhaseWrite = "writing", "쓰는 중";
    PauseJob = "Pause", "일시 정지";
    ResumeJob = "Resume", "다시 시작";
    CancelJob = "Cancel", "취소";
    ShowCrawl = "Show the crawl", "수집 보기";
    StartJob = "Start a job", "작업 시작";
    JobInputs = "Files or folders in the input folder, one per line", "입력 폴더 안의 파일이나 폴더, 한 줄에 하나";
    JobThreshold = "Threshold for deduplicating and clustering", "기준값(사본 제거, 군집 나누기)";
    JobSweep = "Date of the sweep for importing", "순회 날짜(가져오기)";
    NoInputs = "The input folder is empty.", "입력 폴더가 비어 있습니다.";
    InputsAre = "In the input folder: {0}", "입력 폴더에 있는 것: {0}";
    UpdatedCount = "updated", "갱신됨";
    RedirectsCount = "redirects", "리디렉션";
    RefusedCount = "refused", "거부됨";
    RowsCount = "rows", "행";
    SkippedCount = "skipped", "건너뜀";
    SkippedFirst = "Skipped rows (the first 20)", "건너뛴 행(처음 20개까지)";
    FamiliesCount = "families", "묶음";
    ComparedCount = "pairs compared", "비교한 쌍";
    DuplicatesCount = "equal to another", "다른 것과 같음";
    PairsCount = "pairs", "쌍";
    CrawlLead = "Fetches pages from the web into the store, important ones first, and politely: it obeys robots.txt and sends requests to a host slowly. It contacts public addresses only.", "웹 페이지를 중요한 것부터 저장소로 가져옵니다. robots.txt를 지키고 한 호스트에는 천천히 요청하며, 공개된 주소에만 요청합니다.";
    CrawlTitle = "Crawl {0}: {1}", "수집 {0}: {1}";
    Crawls = "Crawls", "수집 목록";
    StartCrawl = "Start a crawl", "수집 시작";
    Seeds = "Start pages, one per line", "시작 페이지, 한 줄에 하나";
    Ordering = "Ordering: which page is fetched next", "순서: 다음에 가져올 페이지";
    CrawlScope = "Scope", "범위";
    ScopeDomain = "the domains of the seeds", "시작 페이지의 도메인";
    ScopeHost = "the hosts of the seeds", "시작 페이지의 호스트";
    ScopeAll = "everywhere", "어디든";
    MostPages = "Maximum number of pages", "페이지 수 한도";
    DelaySeconds = "Seconds between requests to a host", "호스트별 요청 간격(초)";
    MostDepth = "Maximum number of links from a start page", "시작 페이지에서 따라갈 링크 수 한도";
    MostSitePages = "Maximum number of pages per site", "사이트별 페이지 수 한도";
    OnlyPaths = "Only paths that start with", "다음으로 시작하는 경로만";
    NoPaths = "Except paths that start with", "다음으로 시작하는 경로는 제외";
    Agent = "User agent: a name and a contact", "사용자 에이전트: 이름과 연락처";
    SweepOf = "Number of the earlier crawl to repeat", "다시 수집할 이전 수집의 번호";
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
    PagesWaiting = "pages waiting", "대기 중인 페이지";
    UnderWay = "{0} in progress", "가져오는 중 {0}개";
    PageRankShare = "Share of the PageRank", "PageRank의 비율";
    LinkShare = "Share of the links", "링크의 비율";
    SitesOver = "Sites", "사이트 수";
    Host = "Host", "호스트";
    HostsNow = "Hosts", "호스트";
    AnswersCount = "answers", "답";
    FailuresCount = "failures", "실패";
    Outcome = "Outcome", "결과";
    Outcomes = "Outcomes", "결과별";
    Why = "Reason", "이유";
    FailuresLately = "Recent failures", "최근 실패";
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
