# Runs the Julia code of pages written in Markdown: each page is one program, made of its
# blocks fenced by ```julia, run in a Julia process and an empty folder of its own.
#
#     julia --project=julia deps/run_docs.jl README.md docs/guide.md ...
#
# Code runs as if typed at the prompt (assignments in a loop reach the variables outside
# it). Line numbers of errors are those of the page. Blocks with another word after the
# fence (```sh, ```julia-repl) are not run. The last line is `DOC PAGES: X passed, Y failed`.

const FENCE = r"^ {0,3}```"
const JULIA_FENCE = r"^ {0,3}```julia\s*$"

"The Julia code of a page, every other line blank, or `nothing` if the page has none."
function program(page)
    lines = String[]
    inside, julia, any_julia = false, false, false
    for line in eachline(page)
        if occursin(FENCE, line)
            inside = !inside
            julia = inside && occursin(JULIA_FENCE, line)
            any_julia |= julia
            push!(lines, "")
        else
            push!(lines, inside && julia ? line : "")
        end
    end
    inside && error("$page: a fenced block has no end")
    return any_julia ? join(lines, '\n') : nothing
end

"Runs a page; true if it ended well."
function run_page(page, code)
    return mktempdir() do folder
        source = joinpath(folder, replace(basename(page), r"\.md$" => ".jl"))
        write(source, code)
        workplace = mkdir(joinpath(folder, "work"))
        run_source = "using REPL; include(REPL.softscope, $(repr(source)))"
        project = dirname(Base.active_project())
        command = `$(Base.julia_cmd()) --startup-file=no --project=$project -e $run_source`
        streams = (stdin = devnull, stdout = devnull, stderr = stderr)
        process = run(pipeline(Cmd(command; dir = workplace); streams...); wait = false)
        return success(process)
    end
end

function main(pages)
    passed, failed = 0, 0
    for page in pages
        code = program(page)
        code === nothing && continue
        good = run_page(page, code)
        good ? (passed += 1) : (failed += 1)
        println(good ? "ok: " : "FAILED: ", page)
    end
    println("DOC PAGES: $passed passed, $failed failed")
    return failed == 0
end

exit(main(ARGS) ? 0 : 1)
